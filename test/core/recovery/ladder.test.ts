/** What stands in a row of a table and is none, and handlers of rows that choose no verdict. */
import { assert, it } from "@effect/vitest"
import { busy } from "../../_support/dialogue.ts"
import { rowNode } from "../../../packages/core/src/recovery/ladder.ts"
import { contextOf } from "./_support/contexts.ts"

it("what is no row, and a handler that returns no verdict, are named by the row [P1320]", () => {
  const refusal = (is: string) => `The row 'Busy' of a table is ${is}, not a verdict, a schedule or a handler`
  for (const [row, is] of [
    [null, "null"],
    [undefined, "undefined"],
    [5, "number"],
    [{}, "object"]
  ] as const)
    assert.throws(() => rowNode("Busy", row), TypeError, refusal(is))
  const handler = rowNode("Busy", () => 5)
  assert(handler.kind === "when")
  const returned = "The handler of row 'Busy' returned a number, not a verdict or an Effect"
  assert.throws(() => handler.choose(busy(), contextOf("none")), TypeError, returned)
})
