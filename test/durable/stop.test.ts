/** Which messages a run returns when it is stopped. */
import { assert, it } from "@effect/vitest"
import type { Message } from "@kintsugi/core"
import type * as RunContext from "@kintsugi/core/RunContext"
import { Stop } from "../../packages/durable/src/stop.ts"

const said = (id: string) => ({ id, message: { role: "user", content: [{ type: "text", text: id }] } as Message.User })

/** A run with only what a message is returned by. */
const run = (runId: string, parent?: string) =>
  ({ runId, ...(parent === undefined ? {} : { parent: { runId: parent } }) }) as unknown as RunContext.RunContext

it("a run that is stopped returns the messages to it, and the outermost one those to no run [P1136]", () => {
  const stopping = new Stop()
  assert.deepStrictEqual([stopping.isSo, stopping.unread, stopping.aside], [false, [], []])
  stopping.unread = [said("1"), { ...said("2"), to: "outer" }, { ...said("3"), to: "inner" }, { ...said("4"), to: "x" }]
  assert.deepStrictEqual(stopping.unreadBy(run("outer")), [said("1"), said("2")])
  assert.deepStrictEqual(stopping.unreadBy(run("inner", "outer")), [said("3")])
  assert.deepStrictEqual(stopping.unreadBy(run("beside", "outer")), [])
})
