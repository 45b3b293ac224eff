"""Makes a spec smaller while it still differs: whole lines first, then what stands in brackets, then single tokens."""
import re

TOKEN = re.compile(r'\s+|[A-Za-z_]\w*|\d*\.?\d+(?:[eE][-+]?\d+)?|\.\.|[<>=!]=|.', re.S)
OPENING, CLOSING = '([{', ')]}'


def closing(tokens, at):
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] in OPENING) - (tokens[i] in CLOSING)
        if depth == 0:
            return i
    return None


def smaller(text):
    """Candidates, the boldest first."""
    lines = text.splitlines(keepends=True)
    for i in range(len(lines) - 1, -1, -1):
        yield ''.join(lines[:i] + lines[i + 1:])
    tokens = TOKEN.findall(text)
    join = ''.join
    for i, token in enumerate(tokens):
        if token not in OPENING:
            continue
        end = closing(tokens, i)
        if end is None:
            continue
        before, inner, after = tokens[:i], tokens[i + 1:end], tokens[end + 1:]
        if token == '(':
            name = before and re.fullmatch(r'\w+', before[-1])
            for part in operands(inner):
                yield join(before) + part + join(after)
                if name:
                    yield join(before[:-1]) + part + join(after)
            yield join(before) + '1' + join(after)
        else:
            yield join(before) + join(after)
            for part in operands(inner):
                yield join(before) + token + part + tokens[end] + join(after)
            if token == '{':  # on … { u = … } without its cells
                start = join(before).rfind('\n') + 1
                yield join(before)[:start] + '    ' + join(inner) + join(after)
    for i, token in enumerate(tokens):
        if re.fullmatch(r'\d*\.?\d+(?:[eE][-+]?\d+)?', token) and token not in ('0', '1'):
            for simple in ('1', '2', '3', '4'):
                if simple != token and len(simple) <= len(token):
                    yield join(tokens[:i]) + simple + join(tokens[i + 1:])
    for i, token in enumerate(tokens):  # one operand of a sum or product without brackets
        if token in '+-*/' and i + 2 < len(tokens):
            yield join(tokens[:i]) + join(tokens[i + 3:])


def operands(tokens):
    """What stands between the commas, operators and words at the top of some tokens."""
    parts, depth, part = [], 0, []
    for token in tokens:
        depth += (token in OPENING) - (token in CLOSING)
        if depth == 0 and (token in ',+-*/<>' or token in ('==', '<=', '>=', '!=', 'and', 'or', 'if', 'then', 'else')):
            parts.append(''.join(part).strip())
            part = []
        else:
            part.append(token)
    parts.append(''.join(part).strip())
    return [p for p in parts if p] if len(parts) > 1 or len(tokens) > 0 else []


def shrunk(text, found, differ, tries=600):
    """(the smallest text found, its differences); differ(text) -> (what happened, differences)."""
    best = text
    kind = category(found)
    again = True
    while again and tries > 0:
        again = False
        for candidate in smaller(best):
            if weight(candidate) >= weight(best):
                continue
            tries -= 1
            if tries <= 0:
                break
            what, now = differ(candidate)
            if what == 'different' and category(now) & kind:
                best, found, again = candidate, now, True
                break
    return best, found


def weight(text):
    """Shorter is better, and small numbers are."""
    return len(text.split()), len(text), sum(int(d) for d in re.findall(r'\d', text))


def category(found):
    """What kinds of differences these are, so that one is not taken for another on the way."""
    kinds = (('exit', 'exit'), ('steps, not', 'steps'), ('alone', 'alone'), (' = ', 'reduction'), ('shape', 'shape'))
    return {(f.split(':')[0], next((kind for sign, kind in kinds if sign in f), 'field')) for f in found}
