/** The capabilities hold: supported requests are sent, others are refused before anything is sent. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Effect, Layer, References, Schema, Stream } from "effect"
import * as fc from "fast-check"
import { type Participant, participants } from "../_support/participants.ts"
import { specOf } from "../_support/toolSpecs.ts"
import { fakeNetwork, respond } from "../../_support/network.ts"

const look = specOf("look", Schema.Struct({ at: Schema.Finite }))

interface Tree {
  readonly wantedField: string
  readonly under: ReadonlyArray<Tree>
}
const Tree = Schema.Struct({
  wantedField: Schema.String,
  under: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
}).annotate({ identifier: "Tree" })

const wantedSchemas: ReadonlyArray<Schema.Codec<unknown, unknown>> = [
  Schema.Struct({ wantedField: Schema.optionalKey(Schema.String) }),
  Schema.Struct({ wantedField: Schema.Record(Schema.String, Schema.Finite) }),
  Schema.Array(Schema.Struct({ wantedField: Schema.String })),
  Schema.Union([Schema.Struct({ wantedField: Schema.String }), Schema.Struct({ other: Schema.String })]),
  Tree
]

const data = "c29tZSBieXRlcw=="
const url = "https://files.test/some-address"
const id = "file-abc_1"

const attachments = {
  image: {
    data: { type: "image", mediaType: "image/png", data },
    url: { type: "image", mediaType: "image/png", url },
    id: { type: "image", mediaType: "image/png", url: id }
  },
  file: {
    data: { type: "file", mediaType: "application/pdf", name: "a.pdf", data },
    url: { type: "file", mediaType: "application/pdf", name: "a.pdf", url },
    id: { type: "file", mediaType: "application/pdf", name: "a.pdf", url: id }
  }
} as const

interface Wish {
  readonly tools: boolean
  readonly choice: "auto" | "none" | "required" | "named"
  readonly parts: ReadonlyArray<{ readonly what: "image" | "file"; readonly way: "data" | "url" | "id" }>
  readonly output: boolean
  readonly isStreamed: boolean
}

const wishes: fc.Arbitrary<Wish> = fc
  .record({
    tools: fc.boolean(),
    choice: fc.constantFrom("auto", "none", "required", "named"),
    parts: fc.array(fc.record({ what: fc.constantFrom("image", "file"), way: fc.constantFrom("data", "url", "id") }), {
      maxLength: 2
    }),
    output: fc.boolean(),
    isStreamed: fc.boolean()
  })
  .map((wish) => (wish.tools || wish.choice === "none" ? wish : { ...wish, choice: "auto" }))

const requestOf = ({ choice, output, parts, tools }: Wish): Model.Request => ({
  messages: [
    Message.user([
      Message.text("look"),
      ...parts.map(({ way, what }): Message.UserContent[number] => attachments[what][way])
    ])
  ],
  tools: tools ? [look] : [],
  toolChoice: choice === "named" ? { tool: "look" } : choice,
  ...(output
    ? { output: { name: "answer", schema: specOf("", Schema.Struct({ wantedField: Schema.String })).parameters } }
    : {})
})

/** The refused features of a request, by the capabilities alone. */
const refusedIn = ({ choice, parts, tools }: Wish, { capabilities }: Participant): ReadonlySet<string> =>
  new Set([
    ...(tools && !capabilities.tools ? ["tools"] : []),
    ...((choice === "required" || choice === "named") && !capabilities.toolChoice.includes(choice)
      ? ["toolChoice"]
      : []),
    ...parts.flatMap(({ way, what }) => {
      const ways = what === "image" ? capabilities.images : capabilities.files
      return ways.includes(way) ? [] : [what === "image" ? "vision" : "files"]
    })
  ])

/** The tool choice of a body, in any format. */
const choiceIn = (body: Schema.JsonObject): unknown => {
  const { toolConfig, tool_choice } = body
  // Converse has the tools beside their choice
  const { tools: _, ...config } = (toolConfig ?? {}) as Schema.JsonObject
  if (tool_choice === undefined && Object.keys(config).length === 0) return "auto"
  const said = JSON.stringify(tool_choice ?? config)
  if (said.includes("look")) return "named"
  return /none/i.test(said) ? "none" : /any|required/i.test(said) ? "required" : said
}

const check = Effect.fnUntraced(function* (participant: Participant, wish: Wish) {
  const network = fakeNetwork(() =>
    Effect.suspend(
      respond(
        200,
        participant.says("answer", () => "m", 0)
      )
    )
  )
  const request = requestOf(wish)
  const asked = Effect.flatMap(Model.Model, (model) =>
    wish.isStreamed ? Stream.runDrain(model.stream(request)) : Effect.asVoid(model.generate(request))
  ).pipe(Effect.provide(Layer.provide(participant.layer, network.layer)))
  const error = yield* Effect.match(asked, { onFailure: (error) => error, onSuccess: () => undefined })
  const refused = refusedIn(wish, participant)
  if (refused.size > 0) {
    assert(error instanceof LlmError.CapabilityMismatchError, String(error))
    assert.isTrue(refused.has(error.capability), error.message)
    return assert.deepStrictEqual(network.sent, [])
  }
  assert.strictEqual(network.sent.length, 1)
  const text = network.sent[0]?.body ?? ""
  const body: Schema.JsonObject = JSON.parse(text)
  for (const { way } of wish.parts) assert.include(text, { data, url, id }[way])
  const { capabilities } = participant
  const isHidden = wish.choice === "none" && !capabilities.toolChoice.includes("none")
  const offered = body["tools"] ?? (body["toolConfig"] as Schema.JsonObject | undefined)?.["tools"]
  assert.strictEqual(offered !== undefined, wish.tools && !isHidden)
  if (wish.tools && !isHidden) assert.strictEqual(choiceIn(body), wish.choice)
  else assert.include(["auto", "none"], choiceIn(body))
  assert.strictEqual(text.includes("wantedField"), wish.output)
  const { contents: _c, input: _i, messages: _m, system: _s, ...beside } = body
  const isFormat = JSON.stringify(beside).includes("wantedField")
  // Ollama's format would keep its models from calling
  const isLeft = participant.name === "ollama" && wish.tools && !isHidden
  assert.strictEqual(isFormat, wish.output && capabilities.output === "schema" && !isLeft)
  return undefined
})

/** Some of the participants' models end, which each case would say. */
const quiet = Effect.provideService(References.MinimumLogLevel, "Error")

describe("the capabilities of a provider", () => {
  for (const participant of participants) {
    it(`a supported request is sent, any other is refused unsent: ${participant.name} [A814]`, () =>
      fc.assert(
        fc.asyncProperty(wishes, (wish) => Effect.runPromise(quiet(check(participant, wish)))),
        { numRuns: 80 }
      ))
  }

  for (const { capabilities, layer, name, says } of participants) {
    it.effect(`a schema that cannot be sent goes into the prompt as text: ${name} [A814]`, () =>
      Effect.gen(function* () {
        for (const tools of capabilities.tools ? [[], [look]] : [[]]) {
          for (const wanted of wantedSchemas) {
            const network = fakeNetwork(() =>
              Effect.suspend(
                respond(
                  200,
                  says("answer", () => "m", 0)
                )
              )
            )
            const output = { name: "answer", schema: specOf("", wanted).parameters }
            const request: Model.Request = { messages: [Message.user("hi")], tools, toolChoice: "auto", output }
            yield* Effect.flatMap(Model.Model, (model) => model.generate(request)).pipe(
              Effect.provide(Layer.provide(layer, network.layer))
            )
            const body = network.sent[0]?.body ?? ""
            const said = body.includes("Your final answer is JSON and nothing else.")
            const {
              contents: _c,
              input: _i,
              messages: _m,
              system: _s,
              systemInstruction: _y,
              ...beside
            } = JSON.parse(body)
            const isFormat = JSON.stringify(beside).includes("wantedField")
            assert.strictEqual(said, !isFormat, body)
            assert.include(body, "wantedField")
          }
        }
      })
    )
  }

  for (const participant of participants.filter(({ capabilities }) => capabilities.tools)) {
    it.effect(`a tool error is marked as its capabilities say: ${participant.name} [A814 C2]`, () =>
      Effect.gen(function* () {
        const sentWith = (kind: Message.Settlement["kind"]) =>
          Effect.gen(function* () {
            const network = fakeNetwork(() =>
              Effect.suspend(
                respond(
                  200,
                  participant.says("answer", () => "m", 0)
                )
              )
            )
            const call: Message.ToolCall = { type: "tool-call", id: "c1", name: "look", arguments: {} }
            const settlementPart: Message.SettledCall = {
              type: "settled-call",
              call,
              settlement: { kind, text: "it is so" }
            }
            const messages: Message.Transcript = [Message.user("hi"), { role: "assistant", content: [settlementPart] }]
            yield* Effect.flatMap(Model.Model, (model) =>
              model.generate({ messages, tools: [look], toolChoice: "auto" })
            ).pipe(Effect.provide(Layer.provide(participant.layer, network.layer)))
            return network.sent[0]?.body ?? ""
          })
        const [good, bad] = [yield* sentWith("result"), yield* sentWith("told")]
        const flag = participant.name === "bedrock" ? '"status":"error"' : '"is_error":true'
        const marks = { flag, field: '"error":"it is so"', text: '"ERROR: it is so"' }
        for (const [how, words] of Object.entries(marks)) {
          assert.notInclude(good, words)
          assert.strictEqual(bad.includes(words), how === participant.capabilities.toolErrors, how)
        }
      })
    )

    it.effect(`parameters that are not an object are refused unsent: ${participant.name} [A814]`, () =>
      Effect.gen(function* () {
        const network = fakeNetwork([])
        const tools = [look, specOf("text", Schema.String)]
        const asked = Effect.flatMap(Model.Model, (model) =>
          model.generate({ messages: [Message.user("hi")], tools, toolChoice: "auto" })
        ).pipe(Effect.provide(Layer.provide(participant.layer, network.layer)))
        const error = yield* Effect.flip(asked)
        assert(error instanceof LlmError.CapabilityMismatchError)
        assert.include(error.message, "'text'")
        assert.deepStrictEqual(network.sent, [])
      })
    )
  }
})
