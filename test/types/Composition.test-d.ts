/** What compositions leave in types, and what does not compile. */
import {
  Agent,
  type Budget,
  type LlmError,
  Model,
  Recovery,
  Router,
  type RunError,
  Skill,
  Tool,
  type ToolPolicy
} from "@kintsugi/core"
import { Effect, type Layer, Schema, type Stream } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import {
  type BadArgs,
  type Boom,
  check,
  count,
  type Db,
  having,
  type Mail,
  modelLayer,
  name,
  type NoKeys,
  type Oops,
  type Own,
  pay
} from "./_support/subjects.ts"

/** From text to number; fails with `NoKeys`, needs `Db`. */
declare const measuring: Effect.Effect<number, NoKeys, Db>
const measure = Agent.deterministic("measure", (_input: string) => measuring)
/** From number to boolean; fails with `Boom`, needs `Mail`. */
declare const judging: Effect.Effect<boolean, Boom, Mail>
const judge = Agent.deterministic("judge", (_input: number) => judging)
/** From text to text; cannot fail. */
const echo = Agent.deterministic("echo", (text: string) => Effect.succeed(text))

class Short extends Schema.TaggedClass<Short>()("Short", { text: Schema.String }) {}
class Long extends Schema.TaggedClass<Long>()("Long", { pages: Schema.Finite }) {}
declare const sorting: Effect.Effect<Short | Long, NoKeys>
const sort = Agent.deterministic("sort", (_input: string) => sorting)
const short = Agent.deterministic("short", (_input: Short) => Effect.succeed("short"))
const long = Agent.deterministic("long", (_input: Long) => judging)

declare const asked: Effect.Effect<boolean, Oops, Mail>

const acknowledge = { acknowledge: "may run twice" } as const
const paying = having(pay)

describe("one after the other", () => {
  it("the input of the first, the output of the second, the failures and needs of both [A1101]", () => {
    const both = Agent.andThen(measure, judge)
    sameType<Effect.Effect<boolean, NoKeys | Boom, Db | Mail>>()(both(""))
    sameType<Effect.Effect<boolean, NoKeys | Boom, Db | Mail>>()(measure.pipe(Agent.andThen(judge))(""))
    sameType<Agent.Agent<string, boolean, NoKeys | Boom, Db | Mail>>()(both)
    sameType<
      (input: string) => Stream.Stream<import("@kintsugi/core").AgentEvent.AgentEvent, NoKeys | Boom, Db | Mail>
    >()(both.stream)
    sameType<Effect.Effect<boolean, Own | BadArgs | Boom | NoKeys, Model.Model | Mail>>()(
      Agent.andThen(
        Agent.map(having(count), () => 1),
        judge
      )("")
    )
    // @ts-expect-error the second takes numbers, the first gives texts
    Agent.andThen(echo, judge)
    // @ts-expect-error nor does it compile in a pipe
    echo.pipe(Agent.andThen(judge))
    // @ts-expect-error it takes texts
    both(1)
  })

  it("one agent for each tag, and for no other [A1103]", () => {
    const all = Agent.branch(sort, { Short: short, Long: long })
    sameType<Effect.Effect<string | boolean, NoKeys | Boom, Mail>>()(all(""))
    sameType<Effect.Effect<string | boolean, NoKeys | Boom, Mail>>()(
      sort.pipe(Agent.branch({ Short: short, Long: long }))("")
    )
    // @ts-expect-error no part takes what is long
    Agent.branch(sort, { Short: short })
    // @ts-expect-error no part takes what is long
    sort.pipe(Agent.branch({ Short: short }))
    // @ts-expect-error it takes what is short
    Agent.branch(sort, { Short: short, Long: short })
    // @ts-expect-error it takes what is short
    sort.pipe(Agent.branch({ Short: short, Long: short }))
    // @ts-expect-error nothing is of medium length
    Agent.branch(sort, { Short: short, Long: long, Medium: long })
    // @ts-expect-error nothing is of medium length
    sort.pipe(Agent.branch({ Short: short, Long: long, Medium: long }))
    // @ts-expect-error a text has no tag
    Agent.branch(echo, { Short: short })
  })

  it("LoopExhaustedError is in the failures of a loop, and of nothing else [A1105]", () => {
    const loop = Agent.loopUntil(measure, (n) => n > 1, { maxIterations: 3, feedback: (n) => `${n}` })
    sameType<Effect.Effect<number, NoKeys | RunError.LoopExhaustedError, Db>>()(loop(""))
    const fedBack = Agent.loopUntil(measure, () => asked, { maxIterations: 3, feedback: () => Effect.succeed("") })
    sameType<Effect.Effect<number, NoKeys | Oops | RunError.LoopExhaustedError, Db | Mail>>()(fedBack(""))
    const piped = measure.pipe(Agent.loopUntil((n) => n > 1, { maxIterations: 3, feedback: (n) => `${n}` }))
    sameType<Effect.Effect<number, NoKeys | RunError.LoopExhaustedError, Db>>()(piped(""))
    // @ts-expect-error the agent takes texts
    Agent.loopUntil(measure, () => true, { maxIterations: 3, feedback: (n) => n })
    // @ts-expect-error it has to end some time
    Agent.loopUntil(measure, () => true, { feedback: () => "" })
  })
})

describe("at the same time", () => {
  it("the answers have the names of the agents [A1102]", () => {
    const all = Agent.parallel({ size: measure, text: echo })
    sameType<Effect.Effect<{ readonly size: number; readonly text: string }, NoKeys, Db>>()(all(""))
    // @ts-expect-error no input is a text and a number
    Agent.parallel({ size: measure, fine: judge })
  })

  it("the captain takes the question and the answers [A1104]", () => {
    type Heard = { readonly input: string; readonly answers: { readonly size: number; readonly text: string } }
    const captain = Agent.deterministic("captain", (_input: Heard) => judging)
    const forum = Agent.forum({ size: measure, text: echo }, captain)
    sameType<Effect.Effect<boolean, NoKeys | Boom, Db | Mail>>()(forum(""))
    // @ts-expect-error it knows no such answer
    Agent.forum({ size: echo, text: echo }, captain)
    const anybody = Agent.deterministic("anybody", (_input: unknown) => judging)
    // @ts-expect-error no input is a text and a number
    Agent.forum({ size: measure, fine: judge }, anybody)
    // @ts-expect-error it takes a text
    Agent.forum({ size: measure, text: echo }, echo)
  })

  it("a race gives what one of them gives [A1106]", () => {
    sameType<Effect.Effect<number | string, NoKeys, Db>>()(Agent.firstOf(measure, echo)(""))
    sameType<Effect.Effect<number, NoKeys, Db>>()(Agent.firstOf(measure)(""))
    // @ts-expect-error no input is a text and a number
    Agent.firstOf(measure, judge)
    // @ts-expect-error a race without agents
    Agent.firstOf()
  })

  it("copies are what the agent is [A1108]", () => {
    sameType<Effect.Effect<number, NoKeys, Db>>()(Agent.speculative(measure, 2, { hedgeAfter: "1 second" })(""))
    sameType<Effect.Effect<number, NoKeys, Db>>()(measure.pipe(Agent.speculative(2, { hedgeAfter: 1 }))(""))
    // @ts-expect-error it has to say when
    Agent.speculative(measure, 2, {})
  })
})

describe("an order", () => {
  it("every failure may be left, and the guard reads all of them [A1107]", () => {
    const careful = Agent.map(having(check), (text) => text.length)
    sameType<Effect.Effect<number, NoKeys | Own | BadArgs, Db | Model.Model>>()(Agent.fallback(measure, careful)(""))
    Agent.fallback(measure, careful, {
      when: (error, { agent, tried }) => {
        sameType<NoKeys | Own | BadArgs>()(error)
        sameType<string>()(agent)
        sameType<number>()(tried)
        return error._tag === "NoKeys"
      }
    })
    // @ts-expect-error no part fails so
    Agent.fallback(measure, echo, { when: (error) => error._tag === "Boom" })
    // @ts-expect-error no input is a text and a number
    Agent.fallback(measure, judge)
    // @ts-expect-error an order without agents
    Agent.fallback({ when: () => true })
  })
})

describe("an unsafe tool", () => {
  it("takes part in no race unless that is acknowledged [A1111]", () => {
    // @ts-expect-error it may pay twice
    Agent.firstOf(paying, echo)
    // @ts-expect-error wherever it stands
    Agent.firstOf(echo, paying)
    // @ts-expect-error other words are no acknowledgement
    Agent.firstOf(echo, paying, { acknowledge: "yes" })
    // @ts-expect-error it may pay twice
    Agent.speculative(paying, 2, { hedgeAfter: 1 })
    // @ts-expect-error it may pay twice
    paying.pipe(Agent.speculative(2, { hedgeAfter: 1 }))
    type Paid = Effect.Effect<string, Own | BadArgs | NoKeys | Boom, Model.Model>
    sameType<Paid>()(Agent.firstOf(paying, echo, acknowledge)(""))
    sameType<Paid>()(Agent.speculative(paying, 2, { hedgeAfter: 1, ...acknowledge })(""))
    sameType<Paid>()(paying.pipe(Agent.speculative(2, { hedgeAfter: 1, ...acknowledge }))(""))
    Agent.firstOf(having(count), having(name), echo)
  })

  it("does not race within a composition either [A1111]", () => {
    // @ts-expect-error it pays first
    Agent.firstOf(Agent.andThen(paying, echo), echo)
    // @ts-expect-error it pays last
    Agent.firstOf(echo.pipe(Agent.andThen(paying)), echo)
    // @ts-expect-error one of them pays
    Agent.firstOf(Agent.parallel({ a: echo, b: paying }), echo)
    // @ts-expect-error it may come to paying
    Agent.firstOf(Agent.fallback(echo, paying), echo)
    // @ts-expect-error the acknowledgement was about the race within
    Agent.firstOf(Agent.firstOf(echo, paying, acknowledge), echo)
    const loop = paying.pipe(Agent.loopUntil(() => true, { maxIterations: 2, feedback: () => "" }))
    // @ts-expect-error it pays again and again
    Agent.firstOf(loop, echo)
    const looping = Agent.loopUntil(paying, () => true, { maxIterations: 2, feedback: () => "" })
    // @ts-expect-error in or out of a pipe
    Agent.firstOf(looping, echo)
    // @ts-expect-error also with its answer mapped
    Agent.firstOf(Agent.map(paying, String), echo)
    // @ts-expect-error also with its answer mapped
    Agent.firstOf(paying.pipe(Agent.map(String)), echo)
    // @ts-expect-error also with its input mapped
    Agent.firstOf(paying.pipe(Agent.mapInput((text: string) => text)), echo)
    // @ts-expect-error also with a listener
    Agent.firstOf(Agent.map(paying, String).pipe(Agent.onEvent(() => Effect.void)), echo)
    // @ts-expect-error also with a budget
    Agent.firstOf(Agent.map(paying, String).pipe(Agent.withBudget({ maxTurns: 1 })), echo)
    // @ts-expect-error also under another name
    Agent.firstOf(Agent.map(paying, String).pipe(Agent.named("x")), echo)
    // @ts-expect-error also with its services provided
    Agent.firstOf(paying.pipe(Agent.provide(modelLayer)), echo)
    // @ts-expect-error also with a table
    Agent.firstOf(paying.pipe(Agent.onLlmError({ orElse: Recovery.respondWith("") })), echo)
    // @ts-expect-error also with a model
    Agent.firstOf(paying.pipe(Agent.withModel(modelLayer)), echo)
  })

  it("does not race as a tool of an agent either, unless the tool declares its side effects [A1111]", () => {
    const named = { name: "ask", description: "d" } as const
    // @ts-expect-error its tool may pay twice
    Agent.firstOf(having(Agent.asTool(paying, named)), echo)
    // @ts-expect-error also with a table of the tool
    Agent.firstOf(having(Agent.asTool(paying, named).pipe(Tool.onError({ NoKeys: Recovery.tell() }))), echo)
    // @ts-expect-error and the tool of its tool
    Agent.firstOf(having(Agent.asTool(having(Agent.asTool(Agent.map(paying, String), named)), named)), echo)
    // @ts-expect-error it says so itself
    Agent.firstOf(having(Agent.asTool(echo, { ...named, sideEffects: "unsafe" })), echo)
    Agent.firstOf(having(Agent.asTool(paying, { ...named, sideEffects: "idempotent" })), echo)
  })
})

describe("the same agent with something around it", () => {
  it("map and mapInput [A1101]", () => {
    sameType<Effect.Effect<Date, NoKeys, Db>>()(Agent.map(measure, (n) => new Date(n))(""))
    sameType<Effect.Effect<Date, NoKeys, Db>>()(measure.pipe(Agent.map((n) => new Date(n)))(""))
    sameType<Effect.Effect<number, NoKeys, Db>>()(
      Agent.mapInput(measure, (date: Date) => date.toISOString())(new Date())
    )
    sameType<Effect.Effect<number, NoKeys, Db>>()(
      measure.pipe(Agent.mapInput((date: Date) => date.toISOString()))(new Date())
    )
    // @ts-expect-error it takes texts
    Agent.mapInput(measure, (date: Date) => date)
    // @ts-expect-error it gives numbers
    Agent.map(measure, (text: string) => text)
  })

  it("a layer takes away what it gives, and brings its own failures and needs [A1101]", () => {
    const layer: Layer.Layer<Db, Oops, Mail> = undefined as never
    sameType<Effect.Effect<number, NoKeys | Oops, Mail>>()(Agent.provide(measure, layer)(""))
    sameType<Effect.Effect<number, NoKeys | Oops, Mail>>()(measure.pipe(Agent.provide(layer))(""))
    sameType<Effect.Effect<string, Own>>()(Agent.make("a", {}).pipe(Agent.provide(modelLayer))(""))
  })

  it("a model for an agent with a loop, which keeps its tables [A1101]", () => {
    const own = having(name).pipe(Agent.withModel(modelLayer))
    sameType<Effect.Effect<string, Own | BadArgs | Boom, Mail>>()(own(""))
    const telling = own.pipe(Agent.toolDefaults({ Boom: Recovery.tell() }))
    sameType<Effect.Effect<string, Own | BadArgs, Mail>>()(telling(""))
    // @ts-expect-error it asks no model
    measure.pipe(Agent.withModel(modelLayer))
    // @ts-expect-error its parts do
    Agent.andThen(own, echo).pipe(Agent.withModel(modelLayer))
  })

  it("is for the loop alone: other model calls of an agent use the model from outside [A413 A1101]", () => {
    const own = Agent.withModel(modelLayer)
    const answering = <A>(answer: A): Effect.Effect<A, never, Model.Model> => Effect.as(Model.Model, answer)
    type Outside = Effect.Effect<string, Own, Model.Model>
    const bare = Agent.make("a", {})
    const heard = bare.pipe(Agent.onEvent(() => answering<void>(undefined)))
    sameType<Outside>()(Agent.withModel(heard, modelLayer)(""))
    const hooks = [
      Agent.onFailure(() => answering<void>(undefined)),
      Agent.onToolUse(() => answering<void>(undefined))
    ] as const
    sameType<Outside>()(bare.pipe(hooks[0], own)(""))
    sameType<Outside>()(bare.pipe(hooks[1], own)(""))
    const decides = Agent.onBudgetExceeded(() => answering({} as typeof Budget.stop))
    sameType<Outside>()(bare.pipe(decides, own)(""))
    const allows = Agent.toolPolicy(() => answering({} as ToolPolicy.Permission))
    sameType<Outside>()(bare.pipe(allows, own)(""))
    const handled = { RateLimitError: () => answering("later") }
    sameType<Effect.Effect<string, Exclude<Own, LlmError.RateLimitError>, Model.Model>>()(
      bare.pipe(Agent.onLlmError(handled), own)("")
    )
    const says = Skill.deterministic("says", { description: "D.", run: () => answering("") })
    const skills = [says, Skill.make("work", { description: "D." })] as const
    type Chosen = Effect.Effect<string, Own | RunError.RoutingError, Model.Model>
    sameType<Chosen>()(Agent.make("a", { skills }).pipe(own)(""))
    const two = [Skill.make("work", { description: "D." }), Skill.make("rest", { description: "D." })] as const
    const routed = Agent.make("a", { skills: two }).pipe(Agent.route(Router.byRule(() => "work" as const)), own)
    sameType<Effect.Effect<string, Own>>()(routed(""))
    const ruled = Agent.make("a", { skills: two }).pipe(
      Agent.route(Router.byRule(() => answering("work" as const))),
      own
    )
    sameType<Outside>()(ruled(""))
    // all of it is given by a layer, as before
    const given = bare.pipe(
      Agent.onEvent(() => answering<void>(undefined)),
      own,
      Agent.provide(modelLayer)
    )
    sameType<Effect.Effect<string, Own>>()(given(""))
  })

  it("limits bring their failure, where it is not there yet [A904]", () => {
    sameType<Effect.Effect<number, NoKeys | RunError.BudgetExceededError, Db>>()(
      measure.pipe(Agent.withBudget({ maxDuration: 1 }))("")
    )
    sameType<Effect.Effect<string, LlmError.LlmError | RunError.BudgetExceededError, Model.Model>>()(
      Agent.make("a", {}).pipe(Agent.withBudget({ maxTurns: 1 }))("")
    )
  })

  it("tables stand on the parts: a composition has no calls of its own [A1101]", () => {
    const both = Agent.andThen(having(count), echo)
    // @ts-expect-error it asks no model itself
    both.pipe(Agent.onLlmError({ orElse: Recovery.respondWith("") }))
    // @ts-expect-error its calls are those of its parts
    both.pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() } }))
    // @ts-expect-error for all of them too
    both.pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    // @ts-expect-error nor is there anything to hear of them
    both.pipe(Agent.onToolUse(() => Effect.void))
    const numbers = Agent.andThen(echo, Agent.make("n", { output: Schema.Number }))
    // @ts-expect-error nor an answer that it could ask for again
    numbers.pipe(Agent.outputRetries(2))
    // @ts-expect-error nor has it a run that could be explained: it has bounds
    Agent.explain(both)
    // @ts-expect-error nor one that could be resumed
    Agent.resume(both)
  })
})
