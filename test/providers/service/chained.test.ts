/** Requests of OpenAI's Responses that name the stored reply before them. */
import { assert, describe } from "@effect/vitest"
import { Agent, Approval, Compaction, Message, Model, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { agentWith, overADay } from "../../_support/dialogue.ts"
import { event, fakeNetwork, request, respond } from "../../_support/network.ts"
import { it, type Runner, runners } from "../../_support/run.ts"
import { events, type Item, message, reasoning, response } from "../codec/openai-responses/_support/responses.ts"
import { asks, common, look, type Options, playing, said } from "./_support/chained.ts"

it.run("each turn names the reply before it, and sends the results of its calls alone [P1416]", (run) =>
  Effect.gen(function* () {
    const { bodies, model } = playing([
      said(run.isStreamed, "resp_1", [reasoning("rs_1", "hmm"), asks("1"), asks("2")]),
      said(run.isStreamed, "resp_2", [message("One more."), asks("3")]),
      said(run.isStreamed, "resp_3", [message("done")])
    ])
    assert.strictEqual(yield* run(agentWith(look(3)), "go").pipe(Effect.provide(model)), "done")
    const [first, second, third] = bodies()
    assert.notProperty(first, "previous_response_id")
    assert.deepInclude(first, { store: true, include: ["reasoning.encrypted_content"] })
    const result = (id: string) => ({ type: "function_call_output", call_id: `call_${id}`, output: "seen" })
    assert.deepInclude(second, { previous_response_id: "resp_1", input: [result("1"), result("2")] })
    assert.deepInclude(third, { previous_response_id: "resp_2", input: [result("3")] })
    assert.deepStrictEqual(third.tools, first.tools)
  })
)

it.effect("a run that was suspended as JSON goes on from the reply before it [P1416]", () =>
  Effect.gen(function* () {
    const pay = Tool.make("look", {
      description: "Pays.",
      parameters: Schema.Struct({ n: Schema.Int }),
      success: Schema.String,
      run: () => Effect.succeed("paid")
    }).pipe(Tool.requireApproval())
    const first = playing([said(false, "resp_1", [asks("1")])])
    const started = agentWith(pay).start("go")
    const outcome = yield* Effect.provide(
      Effect.flatMap(started, (run) => run.outcome),
      first.model
    )
    assert(outcome._tag === "Suspended")
    const json: unknown = JSON.parse(JSON.stringify(Snapshot.toJson(outcome.snapshot)))
    const from = yield* Effect.orDie(Snapshot.fromJson(json))
    const decisions = Snapshot.requestsOf(from).map(({ digest }) => ({ digest, decision: Approval.approve }))
    const { bodies, model } = playing([said(false, "resp_2", [message("done")])])
    const text = yield* Agent.resume(agentWith(pay))({ from, decisions }).pipe(
      Effect.provide(model),
      Effect.provide(Approval.layer(() => Effect.die(new Error("the decision is given"))))
    )
    assert.strictEqual(text, "done")
    assert.deepInclude(bodies()[0], {
      previous_response_id: "resp_1",
      input: [{ type: "function_call_output", call_id: "call_1", output: "paid" }]
    })
  })
)

/** The ids that the requests of a run name. */
const named = (bodies: ReadonlyArray<{ readonly previous_response_id?: string }>) =>
  bodies.map((body) => body.previous_response_id)

it.run("a compaction sends the shorter transcript once [P1416]", (run) =>
  Effect.gen(function* () {
    const { bodies, model } = playing([
      said(run.isStreamed, "resp_1", [asks("1")]),
      said(run.isStreamed, "resp_2", [asks("2")]),
      respond(400, { error: { message: "Your input exceeds the context window.", code: "context_length_exceeded" } }),
      said(run.isStreamed, "resp_3", [asks("3")]),
      said(run.isStreamed, "resp_4", [message("done")])
    ])
    const agent = agentWith(look(3)).pipe(
      Agent.onLlmError({ ContextTooLongError: Recovery.compact(Compaction.dropOldest({ keepLast: 1 })) })
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model)), "done")
    assert.deepStrictEqual(named(bodies()), [undefined, "resp_1", "resp_2", undefined, "resp_3"])
    assert.notInclude(JSON.stringify(bodies()[3].input), "call_1")
  })
)

it.run("a fallback sends the whole transcript to the other model, and back [P1416]", (run) =>
  Effect.gen(function* () {
    const busy = respond(503, { error: { message: "The engine is currently overloaded" } })
    const network = fakeNetwork([
      said(run.isStreamed, "resp_1", [asks("1")]),
      busy,
      said(run.isStreamed, "resp_2", [asks("2")]),
      said(run.isStreamed, "resp_3", [asks("3")]),
      said(run.isStreamed, "resp_4", [message("done")])
    ])
    const of = (model: string) => OpenAi.layerResponses({ ...common, model })
    const model = Layer.provide(Model.fallback(of("gpt-x"), of("gpt-y")), network.layer)
    assert.strictEqual(yield* run(agentWith(look(3)), "go").pipe(Effect.provide(model)), "done")
    const bodies = network.sent.map(({ body }) => JSON.parse(body))
    assert.deepStrictEqual(
      bodies.map((body) => body.model),
      ["gpt-x", "gpt-x", "gpt-y", "gpt-x", "gpt-x"]
    )
    assert.deepStrictEqual(named(bodies), [undefined, "resp_1", undefined, undefined, "resp_3"])
  })
)

describe("the whole transcript is sent", () => {
  const before = [Message.system("Be kind."), Message.user("go")]

  /** The reply to a first request, as a message, and what a second request with other messages, or by another layer, sends. */
  const second = (
    isStreamed: boolean,
    first: Item,
    next: (reply: Message.Assistant) => Message.Transcript,
    options: Options = {},
    output?: Model.OutputSpec,
    began: Partial<Model.Request> = {}
  ) =>
    Effect.gen(function* () {
      const ask = (more: Partial<Model.Request>) =>
        Effect.flatMap(Model.Model, (model) => {
          const asked = { ...request, ...more }
          return isStreamed ? collected(model.stream(asked)) : model.generate(asked)
        })
      const one = playing([respond(200, isStreamed ? events(first).map(event).join("") : first)])
      const reply = yield* Effect.provide(ask({ messages: before, ...began }), one.model)
      const other = playing([said(isStreamed, "resp_9", [message("fine")])], options)
      const messages = next(Message.settle(reply, []))
      yield* Effect.provide(ask({ messages, ...(output && { output }) }), other.model)
      return other.bodies()[0]
    })

  const collected = (stream: ReturnType<Model.Service["stream"]>) => Effect.map(Stream.runCollect(stream), folded)

  const folded = (parts: ReadonlyArray<Model.Part>): Message.Reply => {
    const collector = new Model.Collector()
    for (const part of parts) collector.push(part)
    const reply = collector.reply()
    if (reply === undefined) throw new Error("the stream has no end")
    return reply
  }

  const more = Message.user("more")
  const usual = response([message("fine")])
  const going = (reply: Message.Assistant) => [...before, reply, more]

  const edited = (reply: Message.Assistant): Message.Assistant => ({
    ...reply,
    content: reply.content.map((part) => (part.type === "text" ? Message.text("bad") : part))
  })

  const cases: ReadonlyArray<readonly [string, (reply: Message.Assistant) => Message.Transcript, Options?, Item?]> = [
    ["another system text", (reply) => [Message.system("Be rude."), Message.user("go"), reply, more]],
    ["an edit before the reply", (reply) => [Message.system("Be kind."), Message.user("come"), reply, more]],
    ["an edit of the reply", (reply) => [...before, edited(reply), more]],
    ["a compaction", (reply) => [Message.user("go"), reply, more]],
    ["a reply of another model after it", (reply) => [...going(reply), Message.assistant("hm"), more]],
    ["nothing new", (reply) => [...before, reply]],
    ["another model", going, { model: "gpt-y" }],
    ["another provider", going, { host: "azure" }],
    ["another key", going, { apiKey: Redacted.make("other") }],
    ["another organization", going, { organization: "o" }],
    ["another project", going, { project: "p" }],
    ["another header", going, { headers: { "openai-organization": "o" } }],
    ["another base URL", going, { baseUrl: "https://o.test/v1" }],
    ["a layer that is not chained", going, { chained: false }],
    ["a reply without an id", going, {}, { ...usual, id: "" }],
    ["a reply that was cut off", going, {}, { ...usual, status: "incomplete" }],
    ["a conversation that the user names", going, { extra: { conversation: "conv_1" } }]
  ]
  for (const [why, next, options, first = usual] of cases) {
    it.run(`after ${why} [P1416]`, (run) =>
      Effect.gen(function* () {
        const body = yield* second(run.isStreamed, first, next, options)
        assert.notProperty(body, "previous_response_id")
        assert.include(JSON.stringify(body.input), why === "an edit before the reply" ? "come" : "go")
      })
    )
  }

  it.run("else only what came after the reply [P1416]", (run) =>
    Effect.gen(function* () {
      const body = yield* second(run.isStreamed, usual, going)
      assert.deepInclude(body, { previous_response_id: "resp_1", input: [{ role: "user", content: "more" }] })
    })
  )

  it.run("for another output, whose schema the first request did not tell [P1416]", (run) =>
    Effect.gen(function* () {
      const output = { name: "list", schema: { type: "array", items: { type: "string" } } } as const
      const whole = yield* second(run.isStreamed, usual, going, {}, output)
      assert.notProperty(whole, "previous_response_id")
      assert.include(JSON.stringify(whole.input), "JSON Schema")
    })
  )

  const turns: Readonly<Record<string, Schema.JsonObject>> = {
    "is not stored": { store: false },
    "went on from a reply that it named": { previous_response_id: "resp_0" },
    "was part of a conversation": { conversation: "conv_1" }
  }
  for (const [why, options] of Object.entries(turns)) {
    it.run(`after a turn whose options say that it ${why} [P1416]`, (run) =>
      Effect.gen(function* () {
        const body = yield* second(run.isStreamed, usual, going, {}, undefined, { options })
        assert.notProperty(body, "previous_response_id")
        assert.strictEqual(body.input.length, 4)
      })
    )
  }

  it.run("after another name of a file [P1416]", (run) =>
    Effect.gen(function* () {
      const about = (name: string): Message.Transcript => [
        { role: "user", content: [Message.file("application/pdf", { data: "QUJD" }, name), Message.text("go")] }
      ]
      const next = (name: string) => (reply: Message.Assistant) => [...about(name), reply, more]
      const asked = (name: string) =>
        second(run.isStreamed, usual, next(name), {}, undefined, { messages: about("a.pdf") })
      assert.notProperty(yield* asked("b.pdf"), "previous_response_id")
      assert.strictEqual((yield* asked("a.pdf")).previous_response_id, "resp_1")
    })
  )

  it.run("with an id that a turn names, and not again if the provider does not know it [P1416]", (run) =>
    Effect.gen(function* () {
      const options = { previous_response_id: "resp_0" }
      const { bodies, model } = playing([
        said(run.isStreamed, "resp_1", [asks("1")]),
        respond(400, { error: { message: "Unknown id 'resp_0'.", param: "previous_response_id" } })
      ])
      let turns = 0
      const agent = agentWith(look(1)).pipe(Agent.prepareTurn(() => Effect.succeed(++turns === 1 ? {} : { options })))
      yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model)))
      assert.deepStrictEqual(named(bodies()), [undefined, "resp_0"])
    })
  )

  it.run("with an id that the user names [P1416]", (run) =>
    Effect.gen(function* () {
      const body = yield* second(run.isStreamed, usual, going, { extra: { previous_response_id: "resp_0" } })
      assert.strictEqual(body.previous_response_id, "resp_0")
      assert.strictEqual(body.input.length, 4)
    })
  )
})

it.run("a reply in the background is named by the next request [P1416 P1406]", (run) =>
  Effect.gen(function* () {
    const whole = response([asks("1")], { background: true })
    const begun = { ...whole, status: "queued", output: [], usage: null }
    const numbered = events(whole).map((one, at): Item => ({ ...one, sequence_number: at }))
    const written = (all: ReadonlyArray<Item>) => respond(200, all.map(event).join(""))
    const job = run.isStreamed
      ? [
          written([{ type: "response.queued", sequence_number: 0, response: begun }, ...numbered]),
          respond(200, { ...begun, status: "in_progress" }),
          written(numbered.slice(1))
        ]
      : [respond(200, begun), respond(200, whole)]
    const { model, sent } = playing([...job, said(run.isStreamed, "resp_2", [message("done")])], { background: true })
    assert.strictEqual(yield* yield* overADay(run(agentWith(look(1)), "go").pipe(Effect.provide(model))), "done")
    assert.strictEqual(sent.at(-1)?.method, "POST")
    assert.strictEqual(JSON.parse(sent.at(-1)?.body ?? "").previous_response_id, "resp_1")
  })
)

it.effect("is refused without stored replies [P1416]", () =>
  Effect.sync(() => {
    assert.throws(() => playing([], { store: false }), RangeError, "chained needs store: true")
    const words = "background needs a store that is not false"
    const options = { model: "gpt-x", apiKey: common.apiKey, background: true }
    assert.throws(() => OpenAi.layerResponses({ ...options, store: false }), RangeError, words)
    assert.throws(() => OpenAi.layerResponses({ ...options, extra: { store: false } }), RangeError, words)
  })
)

describe("the server of tests", () => {
  const runOn = (url: string, run: Runner) => {
    const layer = OpenAi.layerResponses({ ...common, baseUrl: `${url}/v1` }).pipe(Layer.provide(Transport.layerFetch))
    return run(Agent.make("a", { prompt: "Look.", tools: [look(1)] }), "go").pipe(Effect.provide(layer))
  }
  for (const way of ["whole", "streamed"] as const) {
    it.live(`knows the conversation behind an id (${way}) [P1416]`, () =>
      Effect.gen(function* () {
        const heard: Array<ReadonlyArray<string>> = []
        const server = yield* LoopbackServer.make(
          AnyWire.handler(({ messages }) =>
            Effect.sync(() => {
              heard.push(messages.map(({ role }) => role))
              return {
                content:
                  heard.length === 1
                    ? [{ type: "tool-call", id: "call_1", name: "look", arguments: '{"n":1}' }]
                    : [Message.text("done")]
              }
            })
          )
        )
        assert.strictEqual(yield* runOn(server.url, runners[way]), "done")
        assert.deepStrictEqual(heard, [
          ["system", "user"],
          ["system", "user", "assistant", "tool"]
        ])
        const [, last] = yield* server.requests
        assert.deepInclude(last?.body, { previous_response_id: "resp_1" })
      }).pipe(Effect.scoped)
    )
  }
})
