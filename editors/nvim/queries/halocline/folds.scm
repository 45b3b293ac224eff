[(stencil) (run) (guard) (loop) (run_loop) (table) (field_declaration) (terms)] @fold
