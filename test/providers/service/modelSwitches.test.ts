/** One conversation that goes from model to model: each is sent all of it, and each finds it in its own wire. */
import { assert, describe, it } from "@effect/vitest"
import * as Agent from "@kintsugi/core/Agent"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Context, Effect, Layer, References, Schema } from "effect"
import * as fc from "fast-check"
import { type Participant, participants, type Turn } from "../_support/participants.ts"
import { markOf, marksIn } from "../_support/requestShapes.ts"
import { specOf } from "../_support/toolSpecs.ts"
import { fakeNetwork, respond } from "../../_support/network.ts"

const { Struct } = Schema

interface Tree {
  readonly name: string
  readonly under: ReadonlyArray<Tree>
}
const Tree = Struct({
  name: Schema.String,
  under: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
}).annotate({ identifier: "Tree" })

/** All that the root of a schema may be. */
const tools: ReadonlyArray<Message.ToolSpec> = [
  specOf("look", Struct({ at: Schema.optionalKey(Schema.Finite) })),
  specOf("nothing", Struct({})),
  specOf("tree", Tree),
  specOf("either", Schema.Union([Struct({ city: Schema.String }), Struct({ lat: Schema.Finite, lon: Schema.Finite })]))
]

const output = { name: "The answer", schema: specOf("", Struct({ answer: Schema.String })).parameters }

const image = Message.image("image/png", { data: "iVBORw0KGgo=" })

interface Step {
  readonly name: string
  readonly turns: ReadonlyArray<Turn>
  readonly isShown: boolean
  readonly isInstructed: boolean
}

/** The sent bodies, in order, each with its receiver. */
const walk = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
  let next: object = {}
  const network = fakeNetwork(() => Effect.suspend(respond(200, next)))
  const transcript: Array<Message.Message> = [Message.system("You answer in JSON.")]
  const given = new Map<string, Array<string>>()
  let marks = 0
  let replies = 0
  for (const { isInstructed, isShown, name, turns } of steps) {
    const of = participants.find((each) => each.name === name)
    assert(of !== undefined)
    const model = Context.get(yield* Layer.build(Layer.provide(of.layer, network.layer)), Model.Model)
    if (isInstructed) {
      transcript.push(Message.system("Be brief."))
      // its instructions stand before everything: thoughts that came without this one are left out [P1410]
      given.delete("anthropic")
      given.delete("bedrock")
    }
    transcript.push(Message.user(isShown ? [Message.text("What is this?"), image] : "Where does it rain?"))
    for (const turn of turns) {
      next = of.says(turn, (kind = "mark") => markOf(kind, of.name, marks++), replies++)
      const reply = Model.collected(
        yield* model.generate({
          messages: transcript,
          tools: of.capabilities.tools ? tools : [],
          toolChoice: "auto",
          output
        })
      )
      const body = network.sent.at(-1)?.body ?? ""
      const own = given.get(of.name) ?? []
      const wrong = of.shape(JSON.parse(body))
      assert.deepStrictEqual(wrong, [], `${of.name} is sent ${JSON.stringify(JSON.parse(body).messages ?? body)}`)
      const seen = new Set(marksIn(body))
      for (const mark of seen) assert.include(mark, `mark<${of.name} `, `${of.name} is sent ${body}`)
      for (const mark of own) assert.isTrue(seen.has(mark), `${of.name} misses ${mark} in ${body}`)
      // what broke off may go back or not
      if (turn !== "thoughts") own.push(...marksIn(JSON.stringify(next)).filter((mark) => mark.startsWith("mark")))
      given.set(of.name, own)
      const failed: Message.Settlement = { kind: "told", text: "transient: busy" }
      transcript.push(Message.settle(reply, [{ kind: "result", text: "rain" }, failed]))
    }
  }
  return { sent: network.sent.length, transcript }
})

const turnsOf = ({ capabilities: { reasoning, tools } }: Participant): ReadonlyArray<ReadonlyArray<Turn>> => [
  ["answer"],
  ...(tools ? [["calls", "answer"] as const, ["calls", "calls", "answer"] as const] : []),
  ...(reasoning === "demanded" ? [["thoughts"] as const] : [])
]

const stepOf = (of: Participant, isPictured: boolean): fc.Arbitrary<Step> =>
  fc.record({
    name: fc.constant(of.name),
    turns: fc.constantFrom(...turnsOf(of)),
    isShown: isPictured ? fc.boolean() : fc.constant(false),
    isInstructed: fc.boolean()
  })

/** Each model once, and then once more in another order, so that each gets its own texts back between those of others. */
const conversation = (all: ReadonlyArray<Participant>, isPictured: boolean): fc.Arbitrary<ReadonlyArray<Step>> => {
  const once = fc.shuffledSubarray([...all], { minLength: all.length })
  return fc
    .tuple(once, once)
    .chain(([first, second]) => fc.tuple(...[...first, ...second].map((of) => stepOf(of, isPictured))))
}

/** Some of the participants' models end, which each case would say. */
const quiet = Effect.provideService(References.MinimumLogLevel, "Error")

const runs = (arbitrary: fc.Arbitrary<ReadonlyArray<Step>>, numRuns: number) =>
  Effect.promise(() =>
    fc.assert(
      fc.asyncProperty(arbitrary, (steps) => Effect.runPromise(quiet(Effect.asVoid(Effect.scoped(walk(steps)))))),
      { numRuns }
    )
  )

const seers = participants.filter(({ capabilities: { images } }) => images.includes("data"))

describe("one conversation through all models [P1002]", () => {
  it.effect("in the order of the list: thoughts, two calls of which one fails, an answer in JSON [P1002]", () =>
    Effect.gen(function* () {
      const steps = participants.map((of): Step => {
        const turns: ReadonlyArray<Turn> = of.capabilities.tools ? ["calls", "answer"] : ["answer"]
        return { name: of.name, turns, isShown: false, isInstructed: false }
      })
      const { sent, transcript } = yield* walk([...steps, ...steps])
      assert.strictEqual(sent, 42)
      assert.strictEqual(transcript.filter(({ role }) => role === "assistant").length, 42)
    })
  )

  it.effect("an answer that was stopped is its text to each of them, with a word of the user behind it [P1358]", () =>
    Effect.gen(function* () {
      for (const { layer, name, says, shape } of participants) {
        const network = fakeNetwork(() =>
          Effect.suspend(
            respond(
              200,
              says("answer", () => "m", 0)
            )
          )
        )
        const model = Context.get(yield* Layer.build(Layer.provide(layer, network.layer)), Model.Model)
        const cut = (shown: string): Message.Assistant => ({ ...Message.assistant(shown), incomplete: true })
        const from = [Message.user("Where?"), cut("In Ber "), Message.user("Again."), cut("In Oslo\n")]
        const agent = Agent.make("guide", { output: Struct({ answer: Schema.String }) }).pipe(
          Agent.withModel(Layer.succeed(Model.Model, model))
        )
        for (const resumption of [{ from }, { from, input: "Go on." }]) {
          yield* Effect.exit(Agent.resume(agent)(resumption))
          const body = network.sent.at(-1)?.body ?? ""
          assert.deepStrictEqual(shape(JSON.parse(body)), [], `${name} is sent ${body}`)
          assert.include(body, "In Ber ")
          assert.include(body, "In Oslo")
          assert.notInclude(body, "incomplete")
        }
      }
    })
  )

  it.effect("earlier messages are sent unchanged, including repeated ids [P1110]", () =>
    Effect.gen(function* () {
      const steps = [...participants, ...participants].map(({ capabilities, name }): Step => {
        const turns: ReadonlyArray<Turn> = capabilities.tools ? ["calls", "answer"] : ["answer"]
        return { name, turns, isShown: false, isInstructed: false }
      })
      const { transcript } = yield* walk(steps)
      const asked = transcript.flatMap(({ role }, index) => (role === "user" ? [index + 1] : []))
      for (const { layer, name, says } of participants) {
        const network = fakeNetwork(() =>
          Effect.suspend(
            respond(
              200,
              says("answer", () => "m", 0)
            )
          )
        )
        const model = Context.get(yield* Layer.build(Layer.provide(layer, network.layer)), Model.Model)
        let before: ReadonlyArray<string> = []
        for (const length of asked) {
          yield* model.generate({ messages: transcript.slice(0, length), tools: [], toolChoice: "auto" })
          const { contents, input, messages } = JSON.parse(network.sent.at(-1)?.body ?? "")
          const sent: ReadonlyArray<string> = (contents ?? input ?? messages).map((each: unknown) =>
            JSON.stringify(each)
          )
          assert.deepStrictEqual(sent.slice(0, before.length), before, name)
          assert.isAbove(sent.length, before.length)
          before = sent
        }
      }
    })
  )

  it.effect("in any order, with any action of each of them in its turn [P1002]", () =>
    runs(conversation(participants, false), 40)
  )

  it.effect("with pictures, through all that see them [P1002]", () => {
    assert.deepStrictEqual(
      participants.filter((each) => !seers.includes(each)).map(({ name }) => name),
      ["deepseek"]
    )
    return runs(conversation(seers, true), 40)
  })
})
