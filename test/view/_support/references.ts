/** Runs to look at: real agents on a clock of their own, and two of the demo as they were written down. */
import {
  Agent,
  AgentEvent,
  Approval,
  Compaction,
  LlmError,
  Message,
  Model,
  Recovery,
  Router,
  Skill,
  Snapshot,
  Tool
} from "@kintsugi/core"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import { Recording } from "@kintsugi/view"
import { Data, type Duration, Effect, Exit, Fiber, Schema, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"

class NoRoom extends Data.TaggedError("NoRoom")<{ readonly message: string }> {}

const noon = Date.UTC(2026, 3, 2, 12)

/** An answer after a while, with what it took. */
const says = (after: Duration.Input, tokens: number, ...content: Message.Reply["content"]) =>
  ScriptedModel.answers(() =>
    Effect.as(
      Effect.sleep(after),
      ScriptedModel.reply({
        content,
        finish: content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop",
        cost: tokens / 250_000,
        usage: { inputTokens: tokens, outputTokens: 40, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
      })
    )
  )

const fails = (after: Duration.Input, error: LlmError.LlmError) =>
  ScriptedModel.answers(() => Effect.andThen(Effect.sleep(after), Effect.fail(error)))

const text = (value: string) => ({ type: "text" as const, text: value })

/** Plays a program from noon on; what it ends with does not matter. */
const recorded = <A, E>(program: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<Recording.Recording> =>
  Effect.gen(function* () {
    const events = RecordedEvents.makeUnsafe()
    yield* TestClock.setTime(noon)
    const fiber = yield* Effect.forkChild(Effect.provide(program, events.layer))
    yield* TestClock.adjust("1 day")
    yield* Fiber.await(fiber)
    const encode = Schema.encodeSync(AgentEvent.AgentEvent)
    return Recording.fromEvents(events.all.map((event) => encode(event)))
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

const city = Schema.Struct({ city: Schema.String })

/** All goes well; one question goes to another agent. */
const nested = Effect.gen(function* () {
  const weather = Tool.make("weather", {
    description: "Tells the weather of a city.",
    parameters: city,
    success: Schema.String,
    run: ({ city }) => Effect.as(Effect.sleep("180 millis"), `Sunny in ${city}.`)
  })
  const search = Tool.make("search", {
    description: "Searches for hotels.",
    parameters: city,
    success: Schema.String,
    run: ({ city }) => Effect.as(Effect.sleep("420 millis"), `Three hotels in ${city}.`)
  })
  const hotels = Agent.make("hotel-expert", {
    prompt: "Find a hotel.",
    skills: [Skill.make("find", { description: "Finds", tools: [search] })]
  })
  const planner = Agent.make("trip-planner", {
    prompt: "Plan a trip.",
    skills: [
      Skill.make("plan", {
        description: "Plans",
        tools: [weather, Agent.asTool(hotels, { name: "hotels", description: "Asks the expert for hotels." })]
      })
    ]
  })
  const call = ScriptedModel.call
  const model = yield* ScriptedModel.make(
    says("640 millis", 900, call("weather", { city: "Kanazawa" }), call("hotels", { input: "Kanazawa" })),
    says("510 millis", 300, call("search", { city: "Kanazawa" })),
    says("380 millis", 420, text("The Korinkyo, near the museum.")),
    says("830 millis", 1500, text("Go on Friday: it is sunny, and the Korinkyo has a room.\n\nTake the train at nine."))
  )
  return yield* Effect.provide(planner("Plan a weekend in Kanazawa."), model.layer)
})

/** A model that fails and is asked again, a tool that gives up, and a run that fails with it. */
const failed = Effect.gen(function* () {
  const book = Tool.make("book", {
    description: "Books a room.",
    parameters: Schema.Struct({ hotel: Schema.String, nights: Schema.Int }),
    success: Schema.String,
    sideEffects: "none",
    run: ({ hotel }) =>
      Effect.andThen(Effect.sleep("250 millis"), Effect.fail(new NoRoom({ message: `${hotel} is full` })))
  }).pipe(
    Tool.onError({
      NoRoom: Recovery.ladder(Recovery.retry({ retries: 2, initialBackoff: "400 millis" }), Recovery.escalate()),
      InvalidArgs: Recovery.tell()
    })
  )
  const clerk = Agent.make("booking-clerk", {
    prompt: "Book rooms.",
    skills: [Skill.make("book", { description: "Books", tools: [book] })]
  }).pipe(Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 2, initialBackoff: "300 millis" }) }))
  const call = ScriptedModel.call
  const model = yield* ScriptedModel.make(
    fails("200 millis", LlmError.ModelOverloadedError.make({ model: "m" })),
    says("450 millis", 500, call("book", { hotel: "Korinkyo", nights: "two" })),
    says("520 millis", 800, call("book", { hotel: "Korinkyo", nights: 2 }, "call-2")),
    says("300 millis", 900, text("It is full."))
  )
  return yield* Effect.provide(clerk("Two nights in the Korinkyo."), model.layer)
})

/** A payment waits for a person for hours, and the run goes on. */
const approved = Effect.gen(function* () {
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    sideEffects: "unsafe",
    run: ({ cents }) => Effect.as(Effect.sleep("350 millis"), `Paid ${cents} cents.`)
  }).pipe(Tool.requireApproval({ reason: "more than 100 euros", validFor: "1 day" }))
  const clerk = Agent.make("clerk", {
    prompt: "Pay bills.",
    skills: [Skill.make("pay", { description: "Pays", tools: [pay] })]
  })
  const model = yield* ScriptedModel.make(
    says("600 millis", 400, text("The rent is due."), ScriptedModel.call("pay", { cents: 80_000 })),
    says("700 millis", 600, text("The rent is paid."))
  )
  const program = Effect.gen(function* () {
    const outcome = yield* Effect.flatMap(clerk.start("Pay the rent."), (run) => run.outcome)
    if (outcome._tag !== "Suspended") return yield* Effect.die(outcome)
    yield* Effect.sleep("3 hours")
    const decisions = Snapshot.requestsOf(outcome.snapshot).map(({ digest }) => ({
      digest,
      decision: Approval.approve
    }))
    const run = yield* Agent.resume(clerk).start({ from: outcome.snapshot, decisions })
    return yield* run.outcome
  })
  return yield* Effect.provide(program, model.layer)
})

/** What the other runs have not: a chosen skill, progress, thoughts, an output that is read leniently, a call that is undone, a tool that its server changes, and results that are put aside or cut. */
const varied = Effect.gen(function* () {
  const car = Tool.make("car", {
    description: "Books a car.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    putAside: Tool.putAside({ above: 1 }),
    run: (_, { progress }) =>
      Effect.as(
        Effect.forEach([1, 2, 3], (step) => Effect.andThen(Effect.sleep("100 millis"), progress({ step }))),
        "a car"
      )
  }).pipe(Tool.compensate(() => Effect.sleep("50 millis")))
  let looks = 0
  // its server changes it before the second turn
  const changed = Tool.pinned(car, {
    key: "rental/car",
    server: "rental",
    digest: "1",
    now: Effect.sync(() => ({ digest: ++looks < 3 ? "1" : "2", tool: () => car.definition })),
    verdict: (offered, now) => (offered === now ? "same" : "accept"),
    change: () => ({ server: "rental", after: null }),
    accept: () => Effect.void
  })
  const shown = changed.pipe(Tool.parts((car) => [Message.text(car), Message.image("image/png", { data: "AAAA" })]))
  const room = Tool.make("room", {
    description: "Books a room.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.fail(new NoRoom({ message: "full" }))
  })
  const ferry = Tool.deferred("ferry", {
    description: "Books a ferry.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    start: (_, { token }) =>
      Effect.as(
        Effect.forkDetach(Effect.delay(Effect.ignore(Tool.settle(token, Exit.succeed("a ferry"))), "400 millis")),
        { booking: 7 }
      ),
    wait: "suspend",
    deadline: "1 minute"
  })
  const traveller = Agent.make("traveller", {
    output: Schema.Struct({ car: Schema.String }),
    skills: [
      Skill.make("book", { description: "Books", tools: [shown, room, ferry] }),
      Skill.make("talk", { description: "Talks", tools: [] })
    ]
  }).pipe(Agent.route(Router.byRule(() => "book" as const)))
  const call = ScriptedModel.call
  const model = yield* ScriptedModel.make(
    says("300 millis", 100, { type: "reasoning", text: "A car, then." }, call("car", {})),
    says("300 millis", 100, text('```json\n{"car": "red"}\n```')),
    says("300 millis", 100, call("car", {}), call("ferry", {})),
    says("300 millis", 100, call("room", {})),
    says("300 millis", 100, text("I go.")),
    says("300 millis", 100, text("And I come back.")),
    says("300 millis", 100, text("I go.")),
    says("300 millis", 100, call("ship", {})),
    says("300 millis", 100, text("I wait.")),
    says("300 millis", 100, text("I sail."))
  )
  let puts = 0
  // there is no room for a second result
  const store: Tool.ResultStore = {
    put: () => (++puts === 1 ? Effect.void : Effect.fail(new NoRoom({ message: "full" }))),
    get: () => Effect.undefined
  }
  const run = Effect.exit(Stream.runDrain(traveller.stream("Go."))).pipe(Effect.provideService(Tool.ResultStore, store))
  return yield* Effect.provide(
    Effect.all([run, run, spokenTo, unanswered, goingOn, sailing], { discard: true }),
    model.layer
  )
})

/** The run goes on while its tool is at work. */
const sailing = Effect.suspend(() => {
  const ship = Tool.deferred("ship", {
    description: "Books a ship.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    start: (_, { token }) =>
      Effect.as(
        Effect.forkDetach(Effect.delay(Effect.ignore(Tool.settle(token, Exit.succeed("a ship"))), "2 seconds")),
        { booking: 8 }
      ),
    wait: "continue",
    deadline: "1 minute"
  })
  return Effect.exit(Stream.runDrain(Agent.make("sailor", { tools: [ship] }).stream("Go.")))
})

/** One message is read, another is not; nothing is known of the window of the model. */
const spokenTo = Effect.gen(function* () {
  const walker = Agent.make("walker", {}).pipe(
    Agent.compactAt({ with: Compaction.dropOldest({ keepLast: 9 }) }),
    Agent.prepareTurn(() => Effect.succeed({ prompt: "Be brief." })),
    Agent.guardInput(() => Agent.guard.pass)
  )
  for (const words of ["Come back, too.", "No, stay."]) {
    const run = yield* walker.start("Go.")
    yield* Effect.sleep("100 millis")
    yield* run.say(words)
    if (words.startsWith("No")) yield* run.interrupt
    yield* Effect.exit(run.outcome)
  }
})

/** No decision comes in time. */
const unanswered = Effect.gen(function* () {
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("paid")
  }).pipe(Tool.requireApproval({ validFor: "1 minute", onExpiry: "refuse" }))
  const clerk = Agent.make("clerk", { skills: [Skill.make("pay", { description: "Pays", tools: [pay] })] })
  const model = yield* ScriptedModel.make(
    says("300 millis", 100, ScriptedModel.call("pay", {})),
    says("300 millis", 100, text("Not paid."))
  )
  return yield* clerk("Pay.").pipe(
    Effect.provideService(Approval.Approver, { decide: () => Effect.never }),
    Effect.provide(model.layer)
  )
})

/** A reply breaks off, and goes on; the model takes no temperature. */
const goingOn = Effect.gen(function* () {
  const half = ScriptedModel.cutOff({ type: "text-delta", text: "The grey " })
  const model = yield* ScriptedModel.make(half, says("300 millis", 100, text("sea")))
  const poet = Agent.make("poet", {}).pipe(
    Agent.onLlmError({ NetworkError: Recovery.retry({ retries: 1 }) }, { onPartial: "continue", continueBy: "message" })
  )
  const service = yield* Effect.provide(Effect.service(Model.Model), model.layer)
  const adapts = () => ({ family: "muses", changes: [{ option: "temperature", asked: 0 }] })
  return yield* Stream.runDrain(poet.stream("Write.")).pipe(Effect.provideService(Model.Model, { ...service, adapts }))
})

/** A run of the demo. */
export const written = (name: "mended" | "storm"): Recording.Recording =>
  Recording.parse(readFileSync(join(root, "test/fixtures/view", `${name}.jsonl`), "utf8"))

/** The runs that are looked at, by name. */
export const references: Readonly<Record<string, Effect.Effect<Recording.Recording>>> = {
  nested: recorded(nested),
  mended: Effect.sync(() => written("mended")),
  storm: Effect.sync(() => written("storm")),
  failed: recorded(failed),
  approved: recorded(approved)
}

/** Not looked at: it is there so that every type of event is in some run. */
export const others: Effect.Effect<Recording.Recording> = recorded(varied)

/**
 * A run of a refund desk that failed, as a review of the pictures found it: twelve turns on a clock of their own, ten calls at once, a
 * sub-agent, an approval after three hours, and an error without a row at the end. The field `spent` of the first file is named `entry`.
 */
export const midFail = (): Recording.Recording =>
  Recording.parse(readFileSync(join(root, "test/view/_support/mid-fail.jsonl"), "utf8"))

/** A hundred thousand events, or another number: the stormy run of the demo again and again, some at the same time. */
export const long = (events = 100_000): Recording.Recording => {
  const { events: some } = written("storm")
  const first = some[0]?.at ?? 0
  const lasts = (some.at(-1)?.at ?? 0) - first
  const copies = Math.ceil(events / some.length)
  const all = Array.from({ length: copies }, (_, copy) =>
    some.map((event) => ({
      ...event,
      runId: `${event.runId}-${copy}`,
      at: event.at + Math.floor((copy * lasts) / 3),
      ...(event.parent === undefined ? {} : { parent: { ...event.parent, runId: `${event.parent.runId}-${copy}` } })
    }))
  )
  return Recording.fromEvents(
    all
      .flat()
      .toSorted((one, other) => one.at - other.at)
      .slice(0, events)
  )
}
