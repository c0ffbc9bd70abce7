import { assert } from "@effect/vitest"
import { Agent, Message, Router, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { done, eventLog } from "../../_support/dialogue.ts"

const { make } = ScriptedModel

const Trip = Schema.Struct({ to: Schema.String, on: Schema.DateFromString })

const trip = { to: "Wien", on: new Date("2027-03-09T00:00:00.000Z") }
const encoded = '{"to":"Wien","on":"2027-03-09T00:00:00.000Z"}'

const parts: Message.UserContent = [
  Message.text("What is this?"),
  Message.image("image/png", { data: "aGk=" }),
  Message.text(" And this?"),
  Message.file("application/pdf", { url: "https://example.org/a.pdf" }, "a.pdf")
]

it.run("a typed input goes to the model as the JSON of what is encoded [A1201]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(done)
    const log = eventLog()
    const agent = Agent.make("planner", { prompt: "Plan.", input: Trip }).pipe(log.listen)
    assert.strictEqual(yield* run(agent, trip).pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(model.requests[0]?.messages, [Message.system("Plan."), Message.user(encoded)])
    assert.strictEqual(log.of("run-start")[0]?.input, trip)
  })
)

it.run("an input that is encoded as a text goes to the model as that text [A1201]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(done, done)
    yield* run(Agent.make("a", { input: Schema.String }), "hi").pipe(Effect.provide(model.layer))
    yield* run(Agent.make("b", { input: Schema.DateFromString }), trip.on).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      model.requests.map(({ messages }) => messages),
      [[Message.user("hi")], [Message.user("2027-03-09T00:00:00.000Z")]]
    )
  })
)

it.run("texts, images and files go as they are [A1201]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(done)
    const agent = Agent.make("viewer", { input: Message.UserContent })
    assert.strictEqual(yield* run(agent, parts).pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(model.requests[0]?.messages, [{ role: "user", content: parts }])
  })
)

it.effect("a transcript with images and files survives JSON [A1201]", () =>
  Effect.sync(() => {
    const codec = Schema.fromJsonString(Message.Transcript)
    const transcript = [Message.user(parts), Message.assistant("A cat.")]
    assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(Schema.encodeSync(codec)(transcript)), transcript)
    const neither = { role: "user", content: [{ type: "image", mediaType: "image/png" }] }
    assert.throws(() => Schema.decodeUnknownSync(Message.User)(neither))
    assert.deepStrictEqual(Message.repair(transcript), transcript)
  })
)

it.run("an input that does not fit is a defect that names agent and path, and no model is called [A1201]", (run) =>
  Effect.gen(function* () {
    const model = yield* make()
    const agent = Agent.make("planner", { input: Trip })
    // what a caller without types may give
    const wrong = { to: 5, on: trip.on } as unknown as typeof trip
    const exit = yield* Effect.exit(run(agent, wrong).pipe(Effect.provide(model.layer)))
    assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    const defect = Cause.squash(exit.cause)
    assert(defect instanceof TypeError)
    assert.strictEqual(
      defect.message,
      "Agent 'planner': the input does not fit its schema: to: Expected string, got number 5"
    )
    assert.strictEqual(model.requests.length, 0)
    const both = yield* Effect.exit(
      run(agent, { to: 5, on: 6 } as unknown as typeof trip).pipe(Effect.provide(model.layer))
    )
    assert.match(String(both), /its schema: to: Expected string, got number 5[;,\n].*on: /)
  })
)

it.run("skills are chosen by the text of the input, and functions work on it [A1201]", (run) =>
  Effect.gen(function* () {
    const model = yield* make()
    const seen: Array<string> = []
    const skills = [
      Skill.make("asking", { description: "Asks." }),
      Skill.deterministic("echoing", { description: "Echoes.", run: (input) => Effect.succeed(input) })
    ] as const
    const rule = Router.byRule((input) => (seen.push(input), "echoing"))
    const typed = Agent.make("typed", { input: Trip, skills }).pipe(Agent.route(rule))
    const viewer = Agent.make("viewer", { input: Message.UserContent, skills }).pipe(Agent.route(rule))
    assert.strictEqual(yield* run(typed, trip).pipe(Effect.provide(model.layer)), encoded)
    assert.strictEqual(yield* run(viewer, parts).pipe(Effect.provide(model.layer)), "What is this? And this?")
    assert.deepStrictEqual(seen, [encoded, "What is this? And this?"])
  })
)
