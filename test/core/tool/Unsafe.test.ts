/** Which tables may start an unsafe tool: that of an agent which a row runs. */
import { assert, it } from "@effect/vitest"
import { Agent, Recovery } from "@kintsugi/core"
import { rowsOf } from "../../../packages/core/src/recovery/Recovery.ts"
import { areUnsafe, mayBeUnsafe } from "../../../packages/core/src/tool/Unsafe.ts"
import { play } from "../../_support/dialogue.ts"

const fixerWith = (sideEffects: "none" | "unsafe") =>
  Agent.make("fixer", { tools: [play("pay", { sideEffects }, []).tool], budget: { maxTurns: 1 } })

const [safe, unsafe] = [fixerWith("none"), fixerWith("unsafe")]

const chosen = (among?: ReadonlyArray<unknown>) =>
  // any verdicts may be listed
  Recovery.when(() => Recovery.raise, (among === undefined ? {} : { among }) as never)

it("an agent with an unsafe tool may start one", () => {
  assert.deepStrictEqual([safe, unsafe, undefined, "x"].map(mayBeUnsafe), [false, true, false, false])
})

it("a table is unsafe by one of its rows, and a row by one of its verdicts", () => {
  const cases: ReadonlyArray<readonly [row: unknown, isUnsafe: boolean]> = [
    [Recovery.fix(unsafe), true],
    [Recovery.fix(safe), false],
    [Recovery.raise, false],
    [Recovery.tell(), false],
    [Recovery.retry({ retries: 1 }), false],
    [Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.fix(unsafe)), true],
    [Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.fix(safe)), false],
    [chosen([Recovery.raise, Recovery.fix(unsafe)]), true],
    [chosen([Recovery.fix(safe), Recovery.raise]), false],
    [chosen(), false]
  ]
  for (const [index, [row, isUnsafe]] of cases.entries()) {
    const rows = rowsOf({ Busy: Recovery.raise, Gone: row })
    assert.deepStrictEqual([areUnsafe(rows), areUnsafe(new Map(), rows)], [isUnsafe, isUnsafe], String(index))
  }
  assert.isFalse(areUnsafe())
})
