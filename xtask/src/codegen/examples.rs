//! `__test__/generated/examples.ts`: each row's example and error cases, as data for the tests that execute them.

use super::{HEADER, docs};
use ferrotensor_ops::OPS;
use ferrotensor_ops::def::Form;
use std::fmt::Write;

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

pub fn render() -> String {
    let mut out = String::from(HEADER);
    out.push_str("// Examples and error cases of the operation table.\n\nimport * as ft from 'ferrotensor'\n\n");
    out.push_str("/** Example: the call, its text, and its result as a JSON literal. */\nexport const EXAMPLES: readonly { op: string; code: string; run: () => ft.Tensor; gives: string }[] = [\n");
    for op in OPS.iter().filter(|op| op.form != Form::Internal) {
        let (code, gives) = docs::example(op);
        let _ = writeln!(
            out,
            "  {{ op: '{}', code: {}, run: () => {code}, gives: {} }},",
            op.path(),
            quoted(code),
            quoted(gives)
        );
    }
    out.push_str("]\n\n/** Calls that must throw, as text: some are type errors too. */\nexport const ERRORS: readonly { op: string; code: string; error: string }[] = [\n");
    for op in OPS.iter().filter(|op| op.form != Form::Internal) {
        for case in op.errors {
            let _ =
                writeln!(out, "  {{ op: '{}', code: {}, error: '{}' }},", op.path(), quoted(case.call), case.code.name());
        }
    }
    out.push_str("]\n");
    out
}
