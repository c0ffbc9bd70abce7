/** What the provider keeps of a prompt: the beginning of each request, up to a mark that moves along with the conversation. */
import { assert, describe } from "@effect/vitest"
import { Agent, Message, type Model, Recovery, Skill, type Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import type { Anthropic } from "@kintsugi/providers"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import type * as Provider from "@kintsugi/providers/Provider"
import { Effect } from "effect"
import { batch, busy, done, fixer, gone, play, scripted } from "../../../_support/dialogue.ts"
import { it } from "../../../_support/run.ts"

const source: Provider.Source = { provider: "anthropic", model: "claude-x", secrets: [] }

type Cache = Anthropic.Options["promptCache"]

const encoder = (promptCache: Cache) => {
  const codec = AnthropicMessages.make(source, promptCache === undefined ? {} : { promptCache })
  return (request: Model.Request) => codec.encode(request, "whole")
}

const mark = ',"cache_control":'

/** The beginning up to the mark that moves. */
const cached = (body: string): string => {
  const at = body.lastIndexOf(mark)
  assert.isAbove(at, body.indexOf('"messages"'), "the conversation has no mark")
  return body.slice(0, at)
}

/** Each request begins with all that was kept of the one before it, byte for byte, and keeps more. */
const checkPrefixes = (requests: ReadonlyArray<Model.Request>, fresh: boolean) => {
  const encode = encoder({})
  const bodies = requests.map((request) => (fresh ? encoder({})(request) : encode(request)))
  for (const [index, body] of bodies.entries()) {
    const before = bodies[index - 1]
    if (before === undefined) continue
    assert.isTrue(body.startsWith(cached(before)), `request ${index + 1} has lost what was kept`)
    assert.isAbove(cached(body).length, cached(before).length)
    assert.strictEqual(body.split(mark).length - 1, 2, "one mark for the system, one that moves")
  }
}

const agentWith = <const Tools extends ReadonlyArray<Tool.AnyTool>>(...tools: Tools) =>
  Agent.make("worker", { prompt: "Work.", skills: [Skill.make("work", { description: "Works.", tools })] })

it.run("told errors, bad arguments, unknown tools and a repair leave the cached prefix as it was [P1110]", (run) =>
  Effect.gen(function* () {
    const failing = scripted("failing", Effect.fail(busy()), Effect.fail(gone()), Effect.succeed("ok"))
    const mended = play("mended", {}, [Effect.succeed("one"), Effect.succeed("two")])
    const mend = fixer(Effect.succeed('{"n": 1}'))
    const model = yield* ScriptedModel.make(
      batch("failing"),
      ScriptedModel.calls(ScriptedModel.call("failing", '{"n": "no number"}', "functions.failing:0")),
      batch("missing", "failing"),
      ScriptedModel.calls(ScriptedModel.call("mended", "{n = 1", "c1")),
      ScriptedModel.calls(ScriptedModel.call("failing", "nonsense", "functions.failing:0")),
      batch("mended"),
      batch("failing"),
      done
    )
    const agent = agentWith(failing.tool, mended.tool).pipe(
      Agent.toolDefaults({ orElse: Recovery.tell() }),
      Agent.onToolError({ mended: { InvalidArgs: Recovery.fix(mend.agent) } })
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(mend.inputs.length, 1)
    assert.strictEqual(model.requests.length, 8)
    for (const fresh of [false, true]) checkPrefixes(model.requests, fresh)
  })
)

describe("marks", () => {
  const tool: Message.ToolSpec = { name: "t", description: "", parameters: { type: "object" } }
  const user = Message.user([Message.text("a"), Message.text("b")])
  const request: Model.Request = { messages: [Message.system("s"), user], tools: [tool, tool], toolChoice: "auto" }
  const body = (promptCache: Cache, more: Partial<Model.Request> = {}) =>
    JSON.parse(encoder(promptCache)({ ...request, ...more }))
  const ephemeral = { type: "ephemeral" }
  const wire = { name: "t", input_schema: { type: "object" } }

  it("are at the requested breakpoints with the given lifetime, by default after the system text and the last block [P1110]", () => {
    const long = { type: "ephemeral", ttl: "1h" }
    for (const [cache, ofSystem, ofConversation] of [
      [undefined, undefined, undefined],
      [{}, ephemeral, ephemeral],
      [{ breakpoints: ["system"], ttl: "1h" }, long, undefined],
      [{ breakpoints: ["conversation"] }, undefined, ephemeral],
      [{ breakpoints: [] }, undefined, undefined]
    ] as const) {
      const marked = (block: object, mark?: object) => (mark === undefined ? block : { ...block, cache_control: mark })
      const { messages, system, tools } = body(cache)
      assert.deepStrictEqual(system, [marked({ type: "text", text: "s" }, ofSystem)])
      assert.deepStrictEqual(messages[0].content, [
        { type: "text", text: "a" },
        marked({ type: "text", text: "b" }, ofConversation)
      ])
      assert.deepStrictEqual(tools, [wire, wire])
    }
  })

  it("are after the tools if there is no system text, unless the user set one [P1110]", () => {
    const bare = { messages: [user] }
    assert.deepStrictEqual(body({}, bare).tools[1].cache_control, ephemeral)
    assert.notProperty(body({}, bare).tools[0], "cache_control")
    const own = { type: "x", cache_control: { type: "ephemeral", ttl: "1h" } }
    const codec = AnthropicMessages.make(source, { promptCache: {}, providerTools: [own] })
    assert.deepStrictEqual(JSON.parse(codec.encode({ ...request, ...bare }, "whole")).tools[2], own)
    const unmarked = AnthropicMessages.make(source, { promptCache: {}, providerTools: [{ type: "x" }] })
    const { tools } = JSON.parse(unmarked.encode({ ...request, ...bare }, "whole"))
    assert.deepStrictEqual(tools[2], { type: "x", cache_control: ephemeral })
    assert.notInclude(encoder({})({ messages: [], tools: [], toolChoice: "auto" }), "cache_control")
  })

  it("are never on thoughts, which take none [P1110]", () => {
    const thought: Message.Reasoning = { type: "reasoning", text: "hm", opaque: { provider: "anthropic", data: "s" } }
    const said: Message.Assistant = { role: "assistant", content: [Message.text("a"), thought], paused: true }
    const { content } = body({}, { messages: [user, said] }).messages[1]
    assert.deepStrictEqual(content, [
      { type: "text", text: "a", cache_control: ephemeral },
      { type: "thinking", thinking: "hm", signature: "s" }
    ])
  })
})
