// What the page asks of the run, and what it does with the answers.
const base = location.pathname.replace(/\/*$/, '/');
const by = id => document.getElementById(id);
let facts, last = null, curves = {reductions: {}, probes: []}, wake = () => {};

async function ask(path, body) {
  const answer = await fetch(base + path, body === undefined ? {} : {method: 'POST', body: JSON.stringify(body)});
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

// Asks for a change; what is refused is said on the page.
async function change(path, body = {}) {
  try {
    showState(await (await ask(path, body)).json());
    say('');
  } catch (error) {
    say(error.message);
    return false;
  } finally {
    wake();
  }
  return true;
}

function say(trouble) { by('trouble').textContent = trouble; }

// ---- curves

async function askCurves() {
  curves = await (await ask('curves')).json();
  const all = document.createDocumentFragment();
  curves.probes.forEach((probe, i) =>
    drawChart(all, `${probe.field} at ${wordsOf(probe.cell)}: ${written(probe.values.at(-1))}`, {...probe, colour: kProbeColours[i]},
              () => change('forget', {probe: probe.probe}).then(askCurves)));
  for (const name of facts.reductions)
    if (curves.reductions[name])
      drawChart(all, `${name} = ${written(curves.reductions[name].values.at(-1))}`, {...curves.reductions[name], colour: 'var(--accent)'});
  by('curves').replaceChildren(all);
}

// ---- what is shown

const fieldNow = () => facts.fields.find(field => field.name === by('field').value);

function cutNow() {
  return fieldNow().cut ? {axis: by('axis').value, index: Number(by('index').value)} : null;
}

function query() {
  const asked = new URLSearchParams({field: by('field').value, map: by('map').value});
  const cut = cutNow();
  if (cut) for (const key in cut) asked.set(key, cut[key]);
  if (by('low').value.trim() && by('high').value.trim()) {
    asked.set('low', by('low').value.trim());
    asked.set('high', by('high').value.trim());
  }
  return asked;
}

function chooseField() {
  const field = fieldNow();
  by('cut').hidden = !field.cut;
  by('cut').style.display = field.cut ? '' : 'none';
  by('colours').style.display = field.axes.length > 1 ? '' : 'none';
  if (field.cut) {
    by('axis').value = field.cut.axis;
    chooseAxis(field.cut.index);
  }
  [by('low').value, by('high').value] = field.range || ['', ''];
  wake();
}

function chooseAxis(index) {
  const cells = facts.extent[by('axis').value];
  by('index').max = cells - 1;
  by('index').value = index === undefined ? Math.floor(cells / 2) : index;
  by('at').textContent = by('index').value;
  wake();
}

function showState(state) {
  const isOver = state.state === 'finished';
  by('step').textContent = `step ${state.step}` + (facts.steps ? ` of ${facts.steps}` : '');
  by('time').textContent = facts.has_time ? `time ${written(state.time)}` : '';
  by('rate').textContent = state.cells_per_s ? `${written(Number((state.cells_per_s / 1e9).toPrecision(3)))} GStencil/s` : '';
  by('state').textContent = isOver ? state.how : state.state;
  by('pause').textContent = state.state === 'running' ? 'Pause' : 'Continue';
  for (const id of ['pause', 'one', 'many', 'pace']) by(id).disabled = isOver;
  const pace = String(state.pace || '');
  if (![...by('pace').options].some(each => each.value === pace)) option(by('pace'), pace, `${pace} steps a picture`);
  by('pace').value = pace;
  document.body.dataset.state = state.state;
  document.body.dataset.step = state.step;
  for (const input of by('params').querySelectorAll('input')) {
    if (isOver) input.disabled = true;
    if (input === document.activeElement) continue;
    const value = String(state.params[input.name]);
    if (input.dataset.first === undefined) input.dataset.first = value;
    if (input.dataset.shown !== value) input.value = input.dataset.shown = value;
    input.classList.toggle('changed', value !== input.dataset.first);
  }
  by('remark').textContent = state.remark;
  by('params_title').textContent = 'Params' + (state.changes ? ' (changed by hand)' : '');
}

async function drawFrame() {
  const bytes = new Uint8Array(await (await ask('frame?' + query())).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  last = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  if (last.kind === 'plane') drawPlane(last, bytes.subarray(4 + length));
  else drawLine(last);
  showState(last);
  if (last.not_finite) by('place').textContent = `${last.not_finite} cells are not finite (magenta)`;
}

// ---- the start, and on from there

const rest = milliseconds => new Promise(resolve => {
  wake = resolve;
  setTimeout(resolve, milliseconds);
});

async function follow() {
  let asked = -Infinity;
  let trouble = '';
  for (;;) {
    try {
      await drawFrame();
      const isOver = last.state === 'finished';
      if (performance.now() - asked > 500 || isOver) {
        asked = performance.now();
        await askCurves();
      }
      if (trouble && by('trouble').textContent === trouble) say('');
      trouble = '';
    } catch (error) {
      // fetch() throws a TypeError where nobody answers: the command has ended.
      trouble = error instanceof TypeError ? 'The command has ended, or cannot be reached. The page shows what it saw last.' : error.message;
      say(trouble);
      document.body.dataset.gone = error instanceof TypeError;
      if (error instanceof TypeError) by('state').textContent = last && last.state === 'finished' ? last.how : 'ended';
    }
    await rest(trouble ? 1000 : last.state === 'running' ? 60 : 300);
  }
}

function option(select, value, words = value) {
  const node = document.createElement('option');
  node.value = value;
  node.textContent = words;
  select.append(node);
}

async function start() {
  facts = await (await ask('facts')).json();
  document.title = facts.name + ' – haloc';
  by('name').textContent = facts.name;
  by('grid').textContent = `${Object.values(facts.extent).join(' × ')} cells, ${facts.device}`;
  for (const field of facts.fields) option(by('field'), field.name);
  const first = facts.fields.find(field => field.is_drawn) || facts.fields.find(field => field.is_state) || facts.fields[0];
  by('field').value = first.name;
  for (const axis in facts.extent) option(by('axis'), axis);
  for (const param of facts.params) {
    const row = document.createElement('div');
    row.className = 'row';
    const label = document.createElement('label');
    const input = document.createElement('input');
    label.textContent = param.name;
    label.htmlFor = input.id = 'param_' + param.name;
    input.name = param.name;
    input.disabled = facts.params_are_fixed !== '';
    input.onchange = async () => {
      const isTaken = await change('param', {name: param.name, value: input.value});
      if (!isTaken) input.value = input.dataset.shown;
    };
    input.onkeydown = event => { if (event.key === 'Enter') input.blur(); };
    row.append(label, input);
    by('params').append(row);
  }
  if (!facts.params.length) by('params_title').hidden = true;
  if (facts.params_are_fixed && facts.params.length) {
    const why = document.createElement('p');
    why.className = 'faint';
    why.textContent = facts.params_are_fixed;
    by('params').append(why);
  }
  chooseField();
  follow();
}

const pauseOrNot = () => change(document.body.dataset.state === 'running' ? 'pause' : 'resume');
by('pause').onclick = pauseOrNot;
by('one').onclick = () => change('step', {steps: 1});
by('many').onclick = () => change('step', {steps: Number(by('count').value)});
by('pace').onchange = () => change('pace', by('pace').value ? {steps: Number(by('pace').value)} : {});
by('field').onchange = chooseField;
by('axis').onchange = () => chooseAxis();
by('index').oninput = () => { by('at').textContent = by('index').value; wake(); };
by('map').onchange = by('low').onchange = by('high').onchange = () => wake();
by('fix').onclick = () => {
  if (!last) return;
  [by('low').value, by('high').value] = [last.low, last.high];
  wake();
};
by('free').onclick = () => { by('low').value = by('high').value = ''; wake(); };
by('save').onclick = async () => {
  try {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await (await ask('picture.png?' + query())).blob());
    link.download = `${by('field').value}-${String(last ? last.step : 0).padStart(6, '0')}.png`;
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) {
    say(error.message);
  }
};
by('cells').onclick = probeAt;
by('cells').onmousemove = pointAt;
// A button that the mouse has pressed leaves the keys to the page; one that was reached by the keyboard keeps them.
document.onclick = event => { if (event.detail > 0) event.target.closest('button')?.blur(); };
document.onkeydown = event => {
  if (event.target.closest('input:not([type=range]), select') || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === ' ' && !event.target.closest('button')) pauseOrNot();  // of a button it is a click
  else if (event.key === '.') change('step', {steps: 1});
  else return;
  event.preventDefault();
};
start().catch(error => say(error.message));
