/** Several skills in one agent: what they leave in its failures, needs and output, and what routers add. */
import {
  Agent,
  type AgentEvent,
  type Explanation,
  type LlmError,
  type Model,
  Recovery,
  Router,
  type RunError,
  Skill,
  Tool,
  type ToolError,
  ToolPolicy
} from "@kintsugi/core"
import * as Limits from "@kintsugi/core/Budget"
import type * as DoorError from "@kintsugi/core/DoorError"
import { Effect, type Layer, type Stream } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  type Boom,
  count,
  type Db,
  type Mail,
  modelLayer,
  name,
  type NoKeys,
  type Oops,
  type Own
} from "./_support/subjects.ts"

type Budget = RunError.BudgetExceededError
type Routing = RunError.RoutingError
type Call<O, E, R = never> = Effect.Effect<O, Own | E, Model.Model | R>

const counting = Skill.make("counting", { description: "d", tools: [count] })
const naming = Skill.make("naming", { description: "d", prompt: "p", tools: [name, Tool.escalate] })
const both = Agent.make("both", { skills: [counting, naming] })
type OfBoth = BadArgs | NoKeys | Boom | ToolError.EscalationError

/** A skill that is a function, with a failure and a need. */
const choosing = Skill.deterministic("asking", { description: "d", run: () => ask })
const echoing = Skill.deterministic("echoing", { description: "d", run: (input) => Effect.succeed([input] as const) })
const mixed = Agent.make("mixed", { skills: [choosing, counting] })
type OfMixed = BadArgs | NoKeys | Boom | Oops
const plain = Agent.make("plain", { skills: [choosing, echoing] })

declare const isOn: boolean
declare const mailing: Effect.Effect<void, never, Mail>

describe("skills", () => {
  it("an agent with one skill or none has no RoutingError [A1002]", () => {
    sameType<Call<string, never>>()(Agent.make("none", { skills: [] })(""))
    sameType<Call<string, never>>()(Agent.make("one", { skills: [Skill.make("s", { description: "d" })] })(""))
    sameType<Call<string, BadArgs | NoKeys | Boom>>()(Agent.make("one", { skills: [counting] })(""))
  })

  it("with several, the tools of all leave what nothing handles, and there is RoutingError [A1001]", () => {
    sameType<Call<string, OfBoth | Routing, Mail>>()(both(""))
  })

  it("tables are for the tools of all skills [A1001]", () => {
    const guarded = both.pipe(
      Agent.onToolError({ count: { NoKeys: Recovery.tell() }, name: { Boom: Recovery.tell() } }),
      Agent.toolDefaults({ Boom: Recovery.tell(), InvalidArgs: Recovery.tell() })
    )
    sameType<Call<string, ToolError.EscalationError | Routing, Mail>>()(guarded(""))
    // @ts-expect-error no skill has this tool
    both.pipe(Agent.onToolError({ check: { orElse: Recovery.tell() } }))
    // @ts-expect-error built-in tools are outside every table
    both.pipe(Agent.onToolError({ escalate: { orElse: Recovery.tell() } }))
    // @ts-expect-error no tool of any skill fails with it
    both.pipe(Agent.toolDefaults({ Oops: Recovery.tell() }))
  })

  it("a function brings its failures, its needs and its output [A1004]", () => {
    sameType<Call<string | number, OfMixed | Routing, Db>>()(mixed(""))
    sameType<Effect.Effect<number, Budget | Oops, Db>>()(Agent.make("one", { skills: [choosing] })(""))
  })

  it("an agent of nothing but functions needs a model for choosing only [A1004]", () => {
    type Output = number | readonly [string]
    sameType<Call<Output, Oops | Routing, Db>>()(plain(""))
    sameType<Effect.Effect<Output, Budget | Oops, Db>>()(
      plain.pipe(Agent.route(Router.byRule(() => (isOn ? "asking" : "echoing"))))("")
    )
    // @ts-expect-error it has no loop whose model could fail
    plain.pipe(Agent.onLlmError({ orElse: Recovery.respondWith(0) }))
    const own = Agent.make("own", { model: modelLayer, skills: [choosing, echoing] })
    sameType<Effect.Effect<Output, Own | Oops | Routing, Db>>()(own(""))
    const layer = {} as Layer.Layer<Model.Model, Oops, Mail>
    const needy = Agent.make("needy", { model: layer, skills: [echoing, echoing] })
    sameType<Effect.Effect<readonly [string], Own | Oops | Routing, Mail>>()(needy(""))
    sameType<Effect.Effect<readonly [string], Budget | Oops>>()(
      needy.pipe(Agent.route(Router.byRule(() => "echoing")))("")
    )
  })

  it("an agent of nothing but functions has a run with limits, which can be decided about, resumed and explained [A1004 A909]", () => {
    type Run = Effect.Effect<number, Budget | Oops, Db>
    const one = Agent.make("one", { skills: [choosing] })
    const deciding = one.pipe(Agent.onBudgetExceeded(() => Limits.checkpoint))
    sameType<Run>()(deciding(""))
    sameType<typeof one>()(deciding)
    const asked = one.pipe(Agent.onBudgetExceeded(() => Effect.as(mailing, Limits.checkpoint)))
    sameType<Effect.Effect<number, Budget | Oops, Db | Mail>>()(asked(""))
    sameType<Effect.Effect<number, Budget | Oops | DoorError.SnapshotRefusedError | RunError.UnknownPriceError, Db>>()(
      Agent.resume(one)({ from: [] })
    )
    sameType<Explanation.RunExplanation>()(Agent.explain(one))
    sameType<Call<number | readonly [string], Oops | Routing, Db>>()(
      plain.pipe(Agent.onBudgetExceeded(() => Limits.stop))("")
    )
    Agent.explain(plain)
    // @ts-expect-error it has no tools of which a policy could say anything
    one.pipe(Agent.toolPolicy(() => ToolPolicy.allow))
    // @ts-expect-error it has no loop whose model could fail
    one.pipe(Agent.onLlmError({ NetworkError: Recovery.retry({ retries: 1 }) }))
    // a skill with a loop among them is enough
    const guarded = mixed.pipe(
      Agent.toolPolicy(() => ToolPolicy.allow),
      Agent.onLlmError({ NetworkError: Recovery.retry({ retries: 1 }) }),
      Agent.onBudgetExceeded(() => Limits.stop)
    )
    sameType<Call<string | number, OfMixed | Routing, Db>>()(guarded(""))
  })

  it("an agent that is one plain function has neither limits nor a plan [A909]", () => {
    const plain = Agent.deterministic("plain", (_input: string) => ask)
    // @ts-expect-error it has no budget
    plain.pipe(Agent.onBudgetExceeded(() => Limits.stop))
    // @ts-expect-error it does what its function does
    Agent.explain(plain)
    // @ts-expect-error it has no transcript
    Agent.resume(plain)
  })

  it("a function takes the text that the agent takes [A1004]", () => {
    Skill.deterministic("d", {
      description: "d",
      run: (input) => {
        sameType<string>()(input)
        return Effect.void
      }
    })
    // @ts-expect-error the agent's input is a text
    Skill.deterministic("d", { description: "d", run: (input: number) => Effect.succeed(input) })
  })

  it("skills that are not known one by one may be several [A1002]", () => {
    const some: ReadonlyArray<typeof counting | typeof naming> = []
    sameType<Call<string, OfBoth | Routing, Mail>>()(Agent.make("some", { skills: some })(""))
  })
})

describe("routers", () => {
  it("a rule that always names a skill leaves no RoutingError [A1002]", () => {
    sameType<Call<string, OfBoth, Mail>>()(both.pipe(Agent.route(Router.byRule(() => "naming")))(""))
    sameType<Call<string, OfBoth, Mail>>()(
      both.pipe(Agent.route(Router.byRule((input) => (input === "" ? "counting" : "naming"))))("")
    )
    const counting = Effect.succeed("counting" as const)
    const naming = Effect.succeed("naming" as const)
    sameType<Call<string, OfBoth, Mail>>()(
      both.pipe(Agent.route(Router.byRule((input) => (input === "" ? counting : naming))))("")
    )
  })

  it("one that may name none does, and so does one whose names are any text [A1002]", () => {
    const partial = Router.byRule((input) => (input === "" ? "counting" : undefined))
    sameType<Router.Router<"counting" | undefined>>()(partial)
    sameType<Call<string, OfBoth | Routing, Mail>>()(both.pipe(Agent.route(partial))(""))
    sameType<Call<string, OfBoth | Routing, Mail>>()(both.pipe(Agent.route(Router.byModel()))(""))
    sameType<Call<string, OfBoth | Routing, Mail>>()(both.pipe(Agent.route(Router.byRule((input) => input)))(""))
    sameType<Effect.Effect<string, Budget | OfBoth | Routing, Model.Model | Mail>>()(
      both.pipe(
        Agent.route(Router.byRule(() => Effect.succeed("naming"))),
        Agent.onLlmError({ orElse: Recovery.respondWith("") })
      )("")
    )
  })

  it("a rule's failures and needs are the agent's [A1002]", () => {
    const rule = () => Effect.as(ask, "naming" as const)
    sameType<Call<string, OfBoth | Oops, Mail | Db>>()(both.pipe(Agent.route(Router.byRule(rule)))(""))
    sameType<Call<string, OfBoth | Oops | Routing, Mail | Db>>()(
      both.pipe(Agent.route(Router.byRule(() => Effect.as(ask, undefined))))("")
    )
  })

  it("a name that is no skill does not compile [A1003]", () => {
    // @ts-expect-error there is no such skill
    both.pipe(Agent.route(Router.byRule(() => "none")))
    // @ts-expect-error there is no such skill
    both.pipe(Agent.route(Router.byRule((input) => (input === "" ? "counting" : "nameing"))))
    // @ts-expect-error there is no such skill
    both.pipe(Agent.route(Router.byRule(() => Effect.succeed("asking" as const))))
    // @ts-expect-error a rule gives a name
    Router.byRule(() => 1)
    const answering = Recovery.respondWith<unknown, "asking">("asking")
    // @ts-expect-error there is no such skill
    both.pipe(Agent.route(Router.byModel().pipe(Router.onLlmError({ orElse: answering }))))
  })

  it("with less than two skills there is nothing to choose [A1002]", () => {
    // @ts-expect-error it has one skill
    Agent.make("one", { skills: [counting] }).pipe(Agent.route(Router.byRule(() => "counting")))
    // @ts-expect-error it has no skill
    Agent.make("none", {}).pipe(Agent.route(Router.byModel()))
    // @ts-expect-error it is a function
    Agent.deterministic("d", () => Effect.void).pipe(Agent.route(Router.byModel()))
  })

  it("the later router wins, and the order of the pipe changes nothing [A1002]", () => {
    const total = Router.byRule(() => "naming")
    sameType<Call<string, OfBoth, Mail>>()(both.pipe(Agent.route(Router.byModel()), Agent.route(total))(""))
    sameType<Call<string, OfBoth | Routing, Mail>>()(both.pipe(Agent.route(total), Agent.route(Router.byModel()))(""))
    const telling = both.pipe(Agent.toolDefaults({ orElse: Recovery.tell() }), Agent.route(total))
    const routed = both.pipe(Agent.route(total), Agent.toolDefaults({ orElse: Recovery.tell() }))
    sameType<Call<string, ToolError.EscalationError, Mail>>()(telling(""))
    sameType<typeof telling>()(routed)
    const own = Agent.make("own", { model: modelLayer, skills: [choosing, echoing] })
    const back = own.pipe(Agent.route(Router.byRule(() => "asking")), Agent.route(Router.byModel()))
    sameType<typeof own>()(back)
  })

  it("failures of the routing call stay, with any table of the agent [A713]", () => {
    const silent = both.pipe(Agent.onLlmError({ orElse: Recovery.respondWith("") }))
    sameType<Call<string, OfBoth | Routing, Mail>>()(silent(""))
    sameType<Effect.Effect<string, Budget | OfBoth, Model.Model | Mail>>()(
      silent.pipe(Agent.route(Router.byRule(() => "naming")))("")
    )
  })

  it("the router's table removes what it answers, and adds what its handlers fail with and need [A713]", () => {
    const silent = both.pipe(Agent.onLlmError({ orElse: Recovery.respondWith("") }))
    const naming = Router.byModel().pipe(Router.onLlmError({ orElse: Recovery.respondWith("naming") }))
    sameType<Effect.Effect<string, Budget | OfBoth | Routing, Model.Model | Mail>>()(
      silent.pipe(Agent.route(naming))("")
    )
    const wrong = Router.byModel().pipe(Router.onLlmError({ orElse: Recovery.respondWith("nosuch") }))
    // @ts-expect-error there is no such skill
    silent.pipe(Agent.route(wrong))
    const some = Router.byModel().pipe(
      Router.onLlmError({ NetworkError: Recovery.respondWith(() => Effect.as(ask, "naming")) }),
      Router.onLlmError({ RateLimitError: Recovery.retry({ retries: 2 }) })
    )
    sameType<
      Effect.Effect<
        string,
        Budget | OfBoth | Routing | Oops | Exclude<LlmError.LlmError, LlmError.NetworkError>,
        Model.Model | Mail | Db
      >
    >()(silent.pipe(Agent.route(some))(""))
  })

  it("its rows are those of a table for model calls, and its answers are names [A713]", () => {
    // @ts-expect-error the name of a skill is a text
    Router.onLlmError({ orElse: Recovery.respondWith(1) })
    // @ts-expect-error there is no model yet to tell it to
    Router.onLlmError({ orElse: Recovery.tell() })
    // @ts-expect-error no model fails with it
    Router.onLlmError({ NoKeys: Recovery.rethrow })
  })

  it("a stream fails and needs as the run does [A1002]", () => {
    const total = both.pipe(Agent.route(Router.byRule(() => "naming")))
    sameType<Stream.Stream<AgentEvent.AgentEvent, Own | OfBoth, Model.Model | Mail>>()(total.stream(""))
    sameType<Stream.Stream<AgentEvent.AgentEvent, Own | OfMixed | Routing, Model.Model | Db>>()(mixed.stream(""))
  })
})
