import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { deferrals, fits, tokensOf } from "../../../packages/core/src/agent/snapshots.ts"
import type { Snapshot } from "../../../packages/core/src/event/Checkpoint.ts"
import type { Suspendable } from "../../../packages/core/src/tool/ToolDefinition.ts"

/** An agent with these tools; each has only what is read here. */
const agent = (name: string, ...tools: ReadonlyArray<object>): Suspendable => ({
  name,
  // a definition has many fields more
  tools: () => tools as ReturnType<Suspendable["tools"]>
})

/** A deferral of which only `restore` is read. */
const deferral = (name: string, restore?: true) => ({ name, ...(restore && { restore }) })

/** A snapshot with these late calls, and with a reply that calls these tools; each waits like this. */
const snapshot = (name: string, late: ReadonlyArray<object>, ...calls: ReadonlyArray<readonly [string, object]>) => {
  const content = calls.map(([tool], index) => ScriptedModel.call(tool, {}, `c${index}`))
  const unfinished = { reply: ScriptedModel.reply({ content }), calls: calls.map(([, call]) => call) }
  // a snapshot has many fields more
  return {
    agent: name,
    ...(late.length > 0 && { late }),
    ...(calls.length > 0 && { unfinished })
  } as unknown as Snapshot
}

const waits = (token: string) => ({ type: "deferred", token })

const [pay, ship, mail] = [
  { name: "pay", deferral: deferral("pay") },
  { name: "ship", deferral: deferral("ship", true), sideEffects: "unsafe" },
  { name: "mail" }
]
const child = agent("child", pay)
const ask = { name: "ask", nested: child }
const parent = agent("parent", pay, ship, mail, ask)

const late = { token: "t0", tool: "ship" }
const within = { type: "agent", snapshot: snapshot("child", [], ["pay", waits("t2")]) }
const whole = snapshot("parent", [late], ["pay", waits("t1")], ["ask", within], ["mail", { type: "decision" }])

it("the tokens of a snapshot are those of its late calls, of its own calls and of those of its sub-agents", () => {
  assert.deepStrictEqual(tokensOf(whole), ["t0", "t1", "t2"])
  assert.deepStrictEqual(tokensOf(snapshot("parent", [])), [])
})

it("the deferred tools of a snapshot are found by their names, in the agent and in its sub-agents", () => {
  const named = (of: Suspendable, from: Snapshot) =>
    deferrals(of, from).map((one): ReadonlyArray<unknown> => [one.token, one.deferral])
  assert.deepStrictEqual(named(parent, whole), [
    ["t0", ship.deferral],
    ["t1", pay.deferral],
    ["t2", pay.deferral]
  ])
  assert.deepStrictEqual(named(parent, snapshot("parent", [])), [])
  // an agent without such tools, or whose run waits for them
  assert.deepStrictEqual(named(agent("parent", mail), whole), [])
  assert.deepStrictEqual(named(agent("parent", { ...ship, deferral: deferral("ship") }), whole), [])
  // a tool that is deferred, where a person decides first
  assert.deepStrictEqual(named(parent, snapshot("parent", [], ["pay", { type: "decision" }])), [])
})

it("a snapshot fits an agent of its name that has the tools of all calls that wait", () => {
  assert.isTrue(fits(parent, whole))
  assert.isTrue(fits(agent("other"), snapshot("other", [])))
  assert.isFalse(fits(agent("other", pay, ship, mail, ask), whole))
  assert.isFalse(fits(agent("parent", ship, mail, ask), whole))
  assert.isFalse(fits(agent("parent", pay, mail, ask), whole))
  assert.isFalse(fits(agent("parent", pay, pay, mail, { name: "ship" }, ask), whole))
  assert.isFalse(fits(agent("parent", pay, ship, mail), whole))
  assert.isFalse(fits(agent("parent", pay, ship, mail, { name: "ask", nested: agent("child", mail) }), whole))
  assert.isTrue(fits(agent("parent", pay, ship, ask), whole))
})

it("a tool is found by the name that the model meant, and within a call of `call_tool`", () => {
  const misspelt = snapshot("parent", [], ["functions.pay", waits("t1")])
  assert.isTrue(fits(parent, misspelt))
  // a tool that is never guessed has its own name
  assert.isTrue(fits(parent, snapshot("parent", [], ["ship", waits("t1")])))
  assert.isFalse(fits(parent, snapshot("parent", [], ["functions.ship", waits("t1")])))
  const call = ScriptedModel.call("call_tool", { name: "pay", arguments: {} }, "c1")
  const unfinished = { reply: ScriptedModel.reply({ content: [Message.text("So."), call] }), calls: [waits("t1")] }
  // as above
  const wrapped = { agent: "parent", unfinished } as unknown as Snapshot
  assert.isTrue(fits(parent, wrapped))
  assert.deepStrictEqual(
    deferrals(parent, wrapped).map(({ token }) => token),
    ["t1"]
  )
})
