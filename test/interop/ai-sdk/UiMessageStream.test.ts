/** Runs as UI messages. */
import { assert } from "@effect/vitest"
import {
  Agent,
  type AgentEvent,
  Approval,
  Budget,
  type Ledger,
  LlmError,
  Message,
  type Model,
  Recovery,
  Skill,
  Tool,
  Usage
} from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Cause, Effect, Exit, Schema, Stream } from "effect"
import { agentWith, batch, busy, done, eventLog, interruptedAt, scripted } from "../../_support/dialogue.ts"
import { cut, goingOn } from "../../core/run/_support/continued.ts"
import { it } from "../../_support/run.ts"

const { call, calls, fails, make, text } = ScriptedModel

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })
const says = (text: string): Model.Part => ({ type: "text-delta", text })

/** What a front end holds after the chunks; it refuses what the SDK refuses: a part that never began, an unknown call. */
const message = (chunks: ReadonlyArray<UiMessageStream.Chunk>) => {
  const parts: Array<readonly [string, unknown]> = []
  const unfinished = new Map<string, number>()
  const calls = new Set<string>()
  const append = (id: string, delta: string) => {
    const at = unfinished.get(id)
    assert.isDefined(at, `a delta for ${id}, which is not open`)
    const [type, said] = parts[at!]!
    parts[at!] = [type, `${said as string}${delta}`]
  }
  for (const chunk of chunks) {
    if ("toolCallId" in chunk && chunk.type !== "tool-input-available") assert.include([...calls], chunk.toolCallId)
    switch (chunk.type) {
      case "text-start":
      case "reasoning-start":
        assert.isFalse(unfinished.has(chunk.id))
        unfinished.set(chunk.id, parts.push([chunk.type.slice(0, -6), ""]) - 1)
        break
      case "text-delta":
      case "reasoning-delta":
        append(chunk.id, chunk.delta)
        break
      case "text-end":
      case "reasoning-end":
        assert.isTrue(unfinished.delete(chunk.id))
        break
      case "start-step":
        parts.push(["step", undefined])
        break
      case "reset-step":
        unfinished.clear()
        parts.splice(parts.findLastIndex(([type]) => type === "step") + 1)
        break
      case "tool-input-available":
        assert.isFalse(calls.has(chunk.toolCallId), "one call twice")
        calls.add(chunk.toolCallId)
        parts.push([`${chunk.toolName} ${chunk.toolCallId}`, chunk.input])
        break
      case "tool-output-available":
        parts.push([chunk.preliminary === true ? "progress" : "output", chunk.output])
        break
      case "tool-output-error":
      case "error":
        parts.push(["error", chunk.errorText])
        break
      case "tool-output-denied":
      case "abort":
        parts.push([chunk.type, undefined])
        break
      case "tool-approval-request":
        parts.push(["consults", chunk.reason])
        break
      case "tool-approval-response":
        parts.push(["said", chunk.approved])
        break
      case "finish":
        parts.push(["finish", chunk.finishReason])
    }
  }
  assert.strictEqual(unfinished.size, 0, "a part never ended")
  return parts.filter(([type]) => type !== "step")
}

it.run("an answer at a limit is shown as any text, and the metadata of its message names the limit [P1594]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const agent = Agent.make("worker", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("look", { description: "Looks.", tools: [scripted("look", Effect.succeed("seen")).tool] })]
    }).pipe(
      Agent.onBudgetExceeded(() => Budget.answer),
      log.listen
    )
    const model = yield* make(
      batch("look"),
      ScriptedModel.replies(
        ScriptedModel.reply({ content: [Message.text("so far"), ScriptedModel.call("look", {}, "c9")] })
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const chunks = UiMessageStream.fromEvents(log.all)
    assert.deepStrictEqual(message(chunks).slice(2), [
      ["text", "so far"],
      ["look c9", {}],
      ["tool-output-denied", undefined],
      ["finish", "tool-calls"]
    ])
    const end = chunks.at(-1)
    assert(end?.type === "finish")
    assert.deepStrictEqual(end.messageMetadata.endedBy, { reason: "maxTurns", limit: 1 })
  })
)

it.run("text, calls, results and failures of a run, in order; calls with repeated ids stay distinct", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed('{"a":1}'), Effect.fail(busy()))
    const log = eventLog()
    const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell() }))).pipe(log.listen)
    const model = yield* make(batch("look"), batch("look"), text("all is well"))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const chunks = UiMessageStream.fromEvents(log.all)
    const parts = message(chunks)
    assert.deepStrictEqual(parts.slice(0, 3), [
      ["look c1", {}],
      ["output", { a: 1 }],
      ["look c1#2", {}]
    ])
    assert.strictEqual(parts[3]?.[0], "error")
    assert.include(String(parts[3]?.[1]), "busy")
    assert.deepStrictEqual(parts.slice(4), [
      ["text", "all is well"],
      ["finish", "stop"]
    ])
    assert.deepStrictEqual(chunks[0], { type: "start", messageId: log.all[0]!.runId })
    const steps = chunks.flatMap(({ type }) => (type.endsWith("-step") ? [type] : []))
    assert.deepStrictEqual(steps, Array.from({ length: 3 }, () => ["start-step", "finish-step"]).flat())
    assert.deepInclude(chunks.at(-1), {
      messageMetadata: { usage: log.of("run-completed")[0]!.usage, isSuspended: false }
    })
  })
)

it.effect("discarded text is removed, or stays in a step of its own [P502]", () =>
  Effect.gen(function* () {
    const drawn = Effect.fnUntraced(function* (options?: Parameters<typeof UiMessageStream.fromStream>[1]) {
      const model = yield* make(fails(overloaded(), says("all "), says("wro")), text("all is well"))
      const agent = agentWith().pipe(
        Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }, { onPartial: "restart" })
      )
      return yield* Stream.runCollect(
        UiMessageStream.fromStream(agent.stream("go").pipe(Stream.provide(model.layer)), options)
      )
    })
    assert.deepStrictEqual(message(yield* drawn()), [
      ["text", "all is well"],
      ["finish", "stop"]
    ])
    const withoutResets = yield* drawn({ resets: false })
    assert.deepStrictEqual(message(withoutResets), [
      ["text", "all wro"],
      ["text", "all is well"],
      ["finish", "stop"]
    ])
    assert.notInclude(
      withoutResets.map(({ type }) => type),
      "reset-step"
    )
  })
)

it.run("a failure is shown by its code, or as the host describes it, and ends the message", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* make(fails(overloaded()))
    yield* Effect.flip(run(agentWith().pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(message(UiMessageStream.fromEvents(log.all)), [
      ["error", "KINTSUGI-MODEL-OVERLOADED"],
      ["finish", "error"]
    ])
    const describe = (error: unknown) => (LlmError.isLlmError(error) ? "Try again later." : "?")
    assert.deepInclude(message(UiMessageStream.fromEvents(log.all, { describe })), ["error", "Try again later."])
  })
)

it.run("an interrupted run is aborted, its unfinished parts are closed", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.never)
    const log = eventLog()
    const model = yield* make(batch("look"))
    const exit = yield* interruptedAt(10, run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    const parts = message(UiMessageStream.fromEvents(log.all))
    assert.deepStrictEqual(parts[0], ["look c1", {}])
    assert.deepStrictEqual(parts.at(-1), ["abort", undefined])
  })
)

it.run("requests for approval and decisions; a refused call is denied", (run) =>
  Effect.gen(function* () {
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      run: () => Effect.succeed("paid")
    }).pipe(Tool.requireApproval({ reason: "money" }))
    const log = eventLog()
    const model = yield* make(calls(call("pay", { cents: 1 }, "c1"), call("pay", { cents: 2 }, "c2")), done)
    const approver = Approval.layer(({ callId }) =>
      Effect.succeed(callId === "c1" ? Approval.approve : Approval.refuse("no"))
    )
    yield* run(agentWith(pay).pipe(log.listen), "go").pipe(Effect.provide(approver), Effect.provide(model.layer))
    const chunks = UiMessageStream.fromEvents(log.all)
    const asked = new Map(
      chunks.flatMap((chunk) => (chunk.type === "tool-approval-request" ? [[chunk.approvalId, chunk.toolCallId]] : []))
    )
    const said = chunks.flatMap((chunk) =>
      chunk.type === "tool-approval-response" ? [[asked.get(chunk.approvalId), chunk.approved, chunk.reason]] : []
    )
    // two calls of one turn are asked for at the same time, in no order
    assert.sameDeepMembers(said, [
      ["c1", true, undefined],
      ["c2", false, "no"]
    ])
    const ends = message(chunks).flatMap(([type, value]) =>
      type === "output" || type.endsWith("denied") ? [value] : []
    )
    assert.sameDeepMembers(ends, ["paid", undefined])
  })
)

it.run("an output that no reply has shown is shown as text; child runs are not shown [A711]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const inner = Agent.make("inner", {})
    const tool = Agent.asTool(inner, { description: "Asks." })
    const agent = agentWith(tool).pipe(
      Agent.onLlmError({ ServerError: Recovery.respondWith("no server answers") }),
      log.listen
    )
    const model = yield* make(
      calls(call("inner", { input: "?" }, "c1")),
      text("inner answer"),
      fails(LlmError.ServerError.make({ model: "scripted" }))
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(message(UiMessageStream.fromEvents(log.all)), [
      ["inner c1", { input: "?" }],
      ["output", "inner answer"],
      ["text", "no server answers"],
      ["finish", "stop"]
    ])
  })
)

it.effect("as server-sent events, with the mark of the end, also after a failure", () =>
  Effect.gen(function* () {
    const model = yield* make(fails(overloaded()))
    const chunks = UiMessageStream.fromStream(agentWith().stream("go").pipe(Stream.provide(model.layer)))
    const lines = yield* Stream.runCollect(UiMessageStream.toServerSentEvents(chunks))
    assert.isTrue(lines.every((line) => line.startsWith("data: ") && line.endsWith("\n\n")))
    assert.strictEqual(lines.at(-1), "data: [DONE]\n\n")
    assert.deepInclude(JSON.parse(lines.at(-2)!.slice(6)), { type: "finish", finishReason: "error" })
    assert.strictEqual(UiMessageStream.headers["x-vercel-ai-ui-message-stream"], "v1")
  })
)

it.effect("a value that is too deep to write is shown as its text, or as a mark [P1393]", () =>
  Effect.gen(function* () {
    const text = "[".repeat(50_000) + "]".repeat(50_000)
    const deep: Schema.Json = JSON.parse(text)
    const origin = { runId: "r", agent: "a", at: 1 }
    const ofCall = { ...origin, turn: 1, callId: "c1", tool: "dig" }
    const written = (args: Message.ToolCall["arguments"]) => call("dig", args, "c1")
    for (const [args, input] of [
      [text, text],
      [{ a: deep }, "…"],
      ['{"a":[1]}', { a: [1] }]
    ] as const) {
      const reply: Message.Reply = { content: [written(args)], finish: "tool-calls", usage: Usage.empty }
      const asked = { runId: "r", agent: "a", turn: 1, attempt: 1, model: "m", provider: "p" }
      const spent: Ledger.Entry = { ...asked, purpose: "agent", outcome: "used", usage: Usage.empty }
      const said: ReadonlyArray<AgentEvent.AgentEvent> = [
        { ...origin, type: "run-start", turn: 0, input: "go", transcript: [] },
        { ...origin, type: "model-end", turn: 1, attempt: 1, model: "m", reply, entry: spent },
        { ...ofCall, type: "tool-progress", data: deep },
        { ...origin, type: "run-completed", turn: 1, output: deep, usage: Usage.empty, ledger: [] }
      ]
      const chunks = UiMessageStream.fromEvents(said)
      const events = yield* Stream.runCollect(UiMessageStream.toServerSentEvents(Stream.fromIterable(chunks)))
      assert.strictEqual(events.at(-1), "data: [DONE]\n\n")
      const shown = chunks.flatMap((chunk) =>
        chunk.type === "tool-input-available"
          ? [chunk.input]
          : chunk.type === "tool-output-available"
            ? [chunk.output]
            : chunk.type === "text-delta"
              ? [chunk.delta]
              : []
      )
      assert.deepStrictEqual(shown, [input, "…", "…"])
    }
  })
)

it.run("a run that goes on from an incomplete message writes what comes behind it [P1563]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* goingOn(text("well"))
    const from = [Message.user("go"), cut("all is ")]
    const resumed = run(Agent.resume(agentWith().pipe(log.listen)), { from, incomplete: "continue" })
    yield* resumed.pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(message(UiMessageStream.fromEvents(log.all)), [
      ["text", "well"],
      ["finish", "stop"]
    ])
  })
)

it.run("the metadata of a message has what the last reply says about itself [P1407]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed('{"a":1}'))
    const log = eventLog()
    const facts = { responseId: "resp_2", requestId: "req_2", rawFinish: "end_turn", serviceTier: "flex" }
    const usage = Usage.make({ inputTokens: 1 })
    const first = { content: [call("look", {}, "c1")], finish: "tool-calls", usage, responseId: "resp_1" } as const
    const last = { content: [Message.text("so")], finish: "stop", usage, model: "m-2026", ...facts } as const
    const model = yield* make(ScriptedModel.replies(first), ScriptedModel.replies(last))
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const end = UiMessageStream.fromEvents(log.all).at(-1)
    assert(end?.type === "finish")
    assert.deepStrictEqual<unknown>(end.messageMetadata.reply, { model: "m-2026", ...facts })
  })
)
