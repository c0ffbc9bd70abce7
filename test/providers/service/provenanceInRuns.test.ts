/** Whole runs with thoughts: over turns, from model to model, after a compaction, and after a suspension. */
import { assert, it as single } from "@effect/vitest"
import { Agent, Approval, Compaction, Message, Model, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { Anthropic, Gemini } from "@kintsugi/providers"
import { Effect, Layer, Redacted, Schema } from "effect"
import { agentWith, scripted } from "../../_support/dialogue.ts"
import { event, fakeNetwork, type Reaction, respond, type Sent } from "../../_support/network.ts"
import { it } from "../../_support/run.ts"

const common = { apiKey: Redacted.make("k"), baseUrl: "https://p.test", transport: { retry: false } } as const

const claude = (model: string) => Anthropic.layer({ ...common, model, reasoning: "high" })

/** A reply with a thought, and a call or an answer behind it, whole or streamed. */
const thinking = (isStreamed: boolean, id: string, answer?: string): Reaction => {
  const said =
    answer === undefined
      ? { type: "tool_use", id: `toolu_${id}`, name: "look", input: { n: 1 } }
      : { type: "text", text: answer }
  const content = [{ type: "thinking", thinking: `hmm ${id}`, signature: `s-${id}` }, said]
  const stop_reason = answer === undefined ? "tool_use" : "end_turn"
  if (!isStreamed)
    return respond(200, { type: "message", model: "m", content, stop_reason, usage: { output_tokens: 3 } })
  const events = [
    { type: "message_start", message: { model: "m", usage: { input_tokens: 1 } } },
    ...content.flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index }
    ]),
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 3 } },
    { type: "message_stop" }
  ]
  return respond(200, events.map(event).join(""))
}

const overloaded = respond(529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } })

const tooLong = respond(400, {
  type: "error",
  error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 5 maximum" }
})

/** The signatures that a request has. */
const signatures = ({ body }: Sent): ReadonlyArray<string> =>
  [...body.matchAll(/"signature":"([^"]+)"/g)].map(([, signature = ""]) => signature)

const looking = (times: number) => scripted("look", ...Array.from({ length: times }, () => Effect.succeed("seen"))).tool

it.run("every turn gets back all thoughts of the turns before it [P1410]", (run) =>
  Effect.gen(function* () {
    const network = fakeNetwork([
      ...["1", "2", "3"].map((id) => thinking(run.isStreamed, id)),
      thinking(run.isStreamed, "4", "done")
    ])
    const agent = agentWith(looking(3))
    const text = yield* run(agent, "go").pipe(Effect.provide(claude("claude-opus-5-5")), Effect.provide(network.layer))
    assert.strictEqual(text, "done")
    assert.deepStrictEqual(network.sent.map(signatures), [[], ["s-1"], ["s-1", "s-2"], ["s-1", "s-2", "s-3"]])
  })
)

it.run("a fallback to another family gets none, and back at the first the thoughts of both are apart [P1410]", (run) =>
  Effect.gen(function* () {
    const network = fakeNetwork([
      thinking(run.isStreamed, "opus 1"),
      overloaded,
      thinking(run.isStreamed, "sonnet 1"),
      thinking(run.isStreamed, "opus 2"),
      overloaded,
      thinking(run.isStreamed, "sonnet 2", "done")
    ])
    const model = Model.fallback(claude("claude-opus-5-5"), claude("claude-sonnet-5-5"))
    const agent = agentWith(looking(3))
    const text = yield* run(agent, "go").pipe(Effect.provide(model), Effect.provide(network.layer))
    assert.strictEqual(text, "done")
    assert.deepStrictEqual(network.sent.map(signatures), [
      [],
      ["s-opus 1"],
      [],
      ["s-opus 1"],
      ["s-opus 1", "s-opus 2"],
      ["s-sonnet 1"]
    ])
  })
)

it.run("after a compaction thoughts that stood behind the old beginning are left out [P1410]", (run) =>
  Effect.gen(function* () {
    const network = fakeNetwork([
      thinking(run.isStreamed, "1"),
      thinking(run.isStreamed, "2"),
      tooLong,
      thinking(run.isStreamed, "3"),
      thinking(run.isStreamed, "4", "done")
    ])
    const agent = agentWith(looking(3)).pipe(
      Agent.onLlmError({ ContextTooLongError: Recovery.compact(Compaction.dropOldest({ keepLast: 1 })) })
    )
    const text = yield* run(agent, "go").pipe(Effect.provide(claude("claude-opus-5-5")), Effect.provide(network.layer))
    assert.strictEqual(text, "done")
    assert.deepStrictEqual(network.sent.map(signatures), [[], ["s-1"], ["s-1", "s-2"], [], ["s-3"]])
  })
)

it.run("Gemini 3 gets the signatures of the present turn, and its placeholder after a switch [P1410]", (run) =>
  Effect.gen(function* () {
    const reply = (parts: ReadonlyArray<object>): Reaction => {
      const body = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }], modelVersion: "m" }
      return respond(200, run.isStreamed ? event(body) : body)
    }
    const calling = (id: string) =>
      reply([{ functionCall: { id, name: "look", args: {} }, thoughtSignature: `s-${id}` }])
    const network = fakeNetwork([
      calling("1"),
      calling("2"),
      respond(503, { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }),
      reply([{ text: "done" }])
    ])
    const of = (model: string) => Gemini.layer({ ...common, model })
    const model = Model.fallback(of("gemini-3-pro"), of("gemini-3.5-flash"))
    const text = yield* run(agentWith(looking(2)), "go").pipe(Effect.provide(model), Effect.provide(network.layer))
    assert.strictEqual(text, "done")
    const signed = network.sent.map(({ body }) =>
      [...body.matchAll(/"thoughtSignature":"([^"]+)"/g)].map(([, signature]) => signature)
    )
    const placeholder = "skip_thought_signature_validator"
    assert.deepStrictEqual(signed, [[], ["s-1"], ["s-1", "s-2"], [placeholder, placeholder]])
    // the ids of the calls are no thoughts: they still tell the results apart
    assert.deepStrictEqual(network.sent.at(-1)?.body.match(/"id":"[12]"/g)?.length, 4)
  })
)

const pay = Tool.make("look", {
  description: "Pays.",
  parameters: Schema.Struct({ n: Schema.Int }),
  success: Schema.String,
  run: () => Effect.succeed("paid")
}).pipe(Tool.requireApproval())

/** What a model is sent when it goes on with a run of `claude-opus-5-5` that was suspended as JSON. */
const resumedWith = Effect.fnUntraced(function* (model: string) {
  const suspended = fakeNetwork([thinking(false, "1")])
  const outcome = yield* agentWith(pay)
    .start("go")
    .pipe(
      Effect.flatMap((run) => run.outcome),
      Effect.provide(Layer.provide(claude("claude-opus-5-5"), suspended.layer))
    )
  assert(outcome._tag === "Suspended")
  const json: unknown = JSON.parse(JSON.stringify(Snapshot.toJson(outcome.snapshot)))
  const from = yield* Effect.orDie(Snapshot.fromJson(json))
  const decisions = Snapshot.requestsOf(from).map(({ digest }) => ({ digest, decision: Approval.approve }))
  const resumed = fakeNetwork([thinking(false, "2", "done")])
  const text = yield* Agent.resume(agentWith(pay))({ from, decisions }).pipe(
    Effect.provide(Layer.provide(claude(model), resumed.layer)),
    Effect.provide(Approval.layer(() => Effect.die(new Error("the decision is given"))))
  )
  assert.strictEqual(text, "done")
  return resumed.sent.map(signatures)
})

single.effect("a run that was suspended as JSON goes on with its thoughts, with another model without [P1410]", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* resumedWith("claude-opus-5-5"), [["s-1"]])
    assert.deepStrictEqual(yield* resumedWith("claude-sonnet-5-5"), [[]])
  })
)

single.effect("a longer transcript costs a request no more than its new messages: each is read once [P1410]", () =>
  Effect.gen(function* () {
    let read = 0
    const watched = (text: string): Message.Message => {
      const part = { type: "text" as const, text }
      const content = new Proxy([part], {
        get: (target, name, receiver) => {
          if (name === Symbol.iterator) read++
          return Reflect.get(target, name, receiver) as unknown
        }
      })
      return { role: "user", content }
    }
    const turns = 30
    const network = fakeNetwork(Array.from({ length: turns }, (_, at) => thinking(false, `${at}`, "yes")))
    const model = yield* Effect.provide(Model.Model, Layer.provide(claude("claude-opus-5-5"), network.layer))
    const messages: Array<Message.Message> = []
    const reads: Array<number> = []
    for (let turn = 0; turn < turns; turn++) {
      messages.push(watched(`Question ${turn}`))
      read = 0
      const reply = yield* model.generate({ messages, tools: [], toolChoice: "auto" })
      reads.push(read)
      messages.push(Message.settle(reply, []))
    }
    assert.isAtMost(reads.at(-1) ?? 0, reads[0] ?? 0)
    assert.lengthOf(signatures(network.sent.at(-1)!), turns - 1)
  })
)
