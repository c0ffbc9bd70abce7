/** Which failures the table of a resilient agent repeats, and how it shortens a conversation. */
import { assert, it } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { nodeOf } from "../../../packages/core/src/recovery/making.ts"
import { resilientModel, resilientTools } from "../../../packages/core/src/recovery/resilience.ts"
import { contextOf } from "./_support/contexts.ts"

const failing = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more })

it("a call of undeclared effects is repeated if its request was not sent, and no other call of them [P1343]", () => {
  const node = nodeOf(resilientTools().orElse)
  assert(node.kind === "when")
  const sends = [
    [failing("ECONNREFUSED"), "ladder"],
    [failing("ENOTFOUND"), "ladder"],
    [failing("EHOSTUNREACH"), "ladder"],
    [failing("ETIMEDOUT", { syscall: "connect" }), "ladder"],
    [failing("ECONNRESET"), "tell"],
    [failing("ETIMEDOUT", { syscall: "read" }), "tell"]
  ] as const
  for (const [error, kind] of sends) {
    assert.strictEqual(node.choose(error, contextOf("undeclared")).kind, kind, error.code)
    assert.strictEqual(node.choose(error, contextOf("idempotent")).kind, "ladder", error.code)
    assert.strictEqual(node.choose(error, contextOf("unsafe")).kind, "tell", error.code)
  }
})

it("a conversation that is too long is shortened by two compactions with names of their own [P1343]", () => {
  const [row] = Recovery.explain({ ContextTooLongError: resilientModel().ContextTooLongError }).rows
  assert.deepStrictEqual(
    row?.rungs.map(({ verdict }) => verdict),
    ["compact shrinkResults", "compact dropOldest"]
  )
})
