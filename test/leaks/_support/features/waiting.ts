/** Features of a run that waits: for a person, for a result that comes later, or for what the user says. */
import { Agent, Approval, type Model, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { type Duration, Effect, Exit, type Layer, Schema, type Scope } from "effect"
import type { Around, Feature } from "../measure.ts"
import { call, calling, look, pay } from "./models.ts"

/** Claims and reasons that a process keeps, up to a bound of their own. */
const claims = Snapshot.claimsOfProcess({ most: 100 })

const using = (
  name: string,
  make: (around: Around) => Effect.Effect<unknown, unknown, Model.Model | Approval.Approver | Scope.Scope>,
  decide: Approval.Approver["Service"]["decide"] = () => Effect.succeed(Approval.approve),
  more: Partial<Feature> = {}
): Feature => ({
  name,
  prepare: (around) =>
    Effect.sync(() => ({
      use: make(around).pipe(
        Effect.provide([paying, Approval.layer(decide)]),
        Effect.provideService(Snapshot.Claims, claims)
      )
    })),
  ...more
})

const paying: Layer.Layer<Model.Model> = calling(call("pay"))

const clerk = (around: Around, options: Parameters<typeof pay>[1] = {}) =>
  Agent.make("clerk", { tools: [pay(around, options)] })

/** Starts a run, and goes on from each snapshot with this. */
const resuming = <E, R>(
  agent: ReturnType<typeof clerk>,
  given: (from: Snapshot.Snapshot) => Effect.Effect<object, E, R>
) =>
  Effect.gen(function* () {
    const run = yield* agent.start("go")
    const outcome = yield* run.outcome
    if (outcome._tag !== "Suspended") return yield* Effect.die(new Error("it is not suspended"))
    const from = yield* Snapshot.fromJson(Snapshot.toJson(outcome.snapshot))
    const resumed = yield* Agent.resume(agent).start({ from, ...(yield* given(from)) })
    return yield* resumed.outcome
  })

const deciding = (from: Snapshot.Snapshot, decision: Approval.Decision) => ({
  decisions: Snapshot.requestsOf(from).map(({ digest }) => ({ digest, decision }))
})

/** A tool whose result comes later: by the settlement that `settle` makes of its token. */
const deferred = (
  { resource }: Around,
  settle: (token: string) => Effect.Effect<unknown>,
  options: { readonly deadline?: Duration.Input; readonly wait?: "suspend" | "continue" } = {}
) =>
  Tool.deferred("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    wait: options.wait ?? "suspend",
    deadline: options.deadline ?? "1 hour",
    start: (_, { token }) => Effect.as(Effect.andThen(resource, settle(token)), { job: 1 }),
    cancel: () => Effect.void
  }).pipe(Tool.onError({ ToolTimeoutError: Recovery.tell() }))

const soon = (token: string) =>
  Effect.forkDetach(Effect.andThen(Effect.yieldNow, Effect.ignore(Tool.settle(token, Exit.succeed("paid")))))

/** The reasons of 10,000 closed calls are kept. */
const filled = { warmUp: 10_500 }

const consulting = ({ resource }: Around) =>
  Agent.make("clerk", {
    tools: [
      Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.andThen(resource, Effect.fail({ _tag: "Locked" as const }))
      }).pipe(Tool.onError({ Locked: Recovery.ladder(Recovery.ask(), Recovery.tell()) }))
    ]
  })

const saying = (around: Around) =>
  Effect.gen(function* () {
    const run = yield* Agent.make("clerk", { tools: [look(around)] }).start("go")
    yield* Effect.ignore(run.say("one"))
    yield* Effect.ignore(run.say("two", { interrupt: true }))
    yield* Effect.exit(run.outcome)
    yield* Effect.ignore(run.say("late"))
  })

const long = "x".repeat(3_000)

export const waiting: ReadonlyArray<Feature> = [
  using("an approval that is given", (around) => clerk(around)("go")),
  using(
    "an approval that is refused",
    (around) => clerk(around)("go"),
    () => Effect.succeed(Approval.refuse("no"))
  ),
  using(
    "an approval that expires",
    (around) => clerk(around, { validFor: 1, onExpiry: "refuse" })("go"),
    () => Effect.never
  ),
  using("a run that is suspended and resumed", (around) =>
    resuming(clerk(around), (from) => Effect.succeed(deciding(from, Approval.approve)))
  ),
  using("a run that is suspended and superseded", (around) =>
    resuming(clerk(around), () => Effect.succeed({ say: [{ message: "never mind", supersede: true }] }))
  ),
  using("a run that is suspended and left", (around) =>
    Effect.flatMap(clerk(around).start("go"), ({ outcome }) => outcome)
  ),
  using("a person as a rung", (around) => consulting(around)("go")),
  using(
    "a deferred call that is settled",
    (around) => Agent.make("clerk", { tools: [deferred(around, soon)] })("go"),
    undefined,
    filled
  ),
  using(
    "a deferred call that is late",
    (around) => Agent.make("clerk", { tools: [deferred(around, () => Effect.void, { deadline: 1 })] })("go"),
    undefined,
    filled
  ),
  using(
    "a deferred call beside which the run goes on",
    (around) => Agent.make("clerk", { tools: [deferred(around, soon, { wait: "continue" })] })("go"),
    undefined,
    filled
  ),
  using(
    "a deferred call of a run that is interrupted",
    (around) => Effect.timeoutOption(Agent.make("clerk", { tools: [deferred(around, () => Effect.void)] })("go"), 1),
    undefined,
    filled
  ),
  using("messages to a run", saying),
  using("a long result that is put aside", ({ resource }) =>
    Agent.make("clerk", {
      tools: [
        Tool.make("pay", {
          description: "Pays.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          putAside: Tool.putAside({ above: 1_000 }),
          run: () => Effect.as(resource, long)
        })
      ]
    })("go")
  ),
  using("guardrails and a prepared turn", (around) =>
    Agent.make("clerk", { tools: [pay(around)] }).pipe(
      Agent.guardInput(() => Effect.delay(Effect.succeed(Agent.guard.pass), 1)),
      Agent.guardOutput(() => Effect.succeed(Agent.guard.pass)),
      Agent.prepareTurn(() => Effect.succeed({ prompt: "Pay." }))
    )("go")
  )
]
