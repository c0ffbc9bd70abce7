/** Agents: the program of the first page, what they need, their built-in tools, and what they are as values. */
import {
  Agent,
  type AgentEvent,
  Approval,
  type LlmError,
  type Message,
  type Model,
  Recovery,
  type RunError,
  Skill,
  Snapshot,
  Tool,
  type ToolError
} from "@kintsugi/core"
import type * as DoorError from "@kintsugi/core/DoorError"
import { SnapshotClaims, SnapshotKeys } from "@kintsugi/durable"
import { Effect, type Layer, Redacted, Schema, type Scope, type Stream } from "effect"
import type { KeyValueStore } from "effect/persistence/KeyValueStore"
import type { SqlClient } from "effect/sql/SqlClient"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  bare,
  type Boom,
  call,
  check,
  count,
  type Db,
  having,
  lookup,
  type Mail,
  modelLayer,
  name,
  NoKeys,
  type Oops,
  type Own
} from "./_support/subjects.ts"

/** In the place of a table for model calls. */
type NoModel = "This agent makes no model calls itself: add tables and guardrails to its parts, before Agent.seal"

type Hard = ToolError.ToolExecutionError
type Call<E, R = never> = Effect.Effect<string, Own | E, Model.Model | R>

/** As `count`, with a table of its own. */
const counted = count.pipe(Tool.onError({ NoKeys: Recovery.tell() }))

describe("the program of the first page", () => {
  const countKeys = Tool.make("calculateNumberOfKeys", {
    description: "Count the top-level keys of a JSON object.",
    parameters: Schema.Struct({ json: Schema.String }),
    success: Schema.Number,
    failure: NoKeys,
    run: ({ json }) =>
      Effect.try({ try: () => Object.keys(JSON.parse(json)).length, catch: () => new NoKeys({ json }) })
  })
  const fixer = Agent.make("json-fixer", {
    prompt: "Call escalate with a reason that contains the corrected JSON.",
    model: modelLayer,
    budget: { maxTurns: 3 },
    skills: [Skill.make("fix", { description: "Analyse and escalate JSON errors", tools: [Tool.escalate] })]
  })
  const cleanup = Agent.deterministic("json-cleanup", (raw: string) => Effect.succeed(raw.replaceAll(",}", "}")))
  const fixed = countKeys.pipe(
    Tool.onError({ InvalidArgs: Recovery.fix(cleanup), NoKeys: Recovery.fix(fixer, { retries: 2 }) })
  )
  const analyst = Agent.make("json-analyst", {
    prompt: "Use the tool to count keys.",
    budget: { maxTurns: 10 },
    skills: [Skill.make("solve", { description: "Analyse JSON with tools", tools: [fixed] })]
  })

  it("leaves exactly what nothing handles [A412]", () => {
    sameType<
      Effect.Effect<
        string,
        LlmError.LlmError | ToolError.ToolExecutionError | RunError.BudgetExceededError,
        Model.Model
      >
    >()(analyst("How many keys? {name: world, age: 30, active: true}"))
  })

  it("its fixers leave what they fail with, and need nothing [A412]", () => {
    sameType<Effect.Effect<string, LlmError.LlmError | ToolError.EscalationError | RunError.BudgetExceededError>>()(
      fixer("")
    )
    sameType<Effect.Effect<string>>()(cleanup(""))
  })

  it("its parts compose with plain Effect [A412]", () => {
    sameType<Effect.Effect<number, ToolError.DeserializationError | NoKeys | Hard>>()(
      Tool.call(countKeys, "{}").pipe(
        Effect.retry({ while: (error) => error._tag === "NoKeys", times: 2 }),
        Effect.catchTag("InvalidArgs", () => Effect.fail({} as Hard))
      )
    )
    sameType<Effect.Effect<string, Hard | LlmError.LlmError>>()(
      analyst("").pipe(
        Effect.catchTag("BudgetExceededError", (error) => Effect.succeed(error.partial)),
        Effect.provide(modelLayer)
      )
    )
  })
})

describe("needs", () => {
  it("those of handlers, fixers and schedules are needs of the call, from every level [A509]", () => {
    sameType<Call<BadArgs | Boom | Hard, Db>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.fix(lookup) }))))
    sameType<Call<BadArgs | Boom | Hard, Db>>()(
      having(count).pipe(Agent.onToolError({ count: { NoKeys: Recovery.fix(lookup) } }))("")
    )
    sameType<Call<BadArgs | Boom | Hard, Db>>()(
      having(count).pipe(Agent.toolDefaults({ NoKeys: Recovery.fix(lookup) }))("")
    )
    sameType<Call<BadArgs | Boom, Mail>>()(call(name))
    sameType<Call<BadArgs | Hard, Mail | Db>>()(call(name.pipe(Tool.onError({ Boom: Recovery.fix(lookup) }))))
  })

  it("those of a row that was replaced are gone [A504]", () => {
    sameType<Call<BadArgs | Boom>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.fix(lookup) }), Tool.onError({ NoKeys: Recovery.tell() })))
    )
    sameType<Call<BadArgs | Boom>>()(
      having(count).pipe(
        Agent.onToolError({ count: { NoKeys: Recovery.fix(lookup) } }),
        Agent.onToolError({ count: { NoKeys: Recovery.tell() } })
      )("")
    )
  })

  it("an agent with a model of its own does not need one [A413]", () => {
    const own = Agent.make("own", { model: modelLayer })
    sameType<Effect.Effect<string, Own>>()(own(""))
    sameType<Effect.Effect<string, Own | BadArgs | Boom, Mail>>()(
      Agent.make("own", {
        model: modelLayer,
        skills: [Skill.make("s", { description: "d", tools: [name] })]
      })("")
    )
  })

  it("the failures and needs of its layer are its own [A413]", () => {
    const layer = {} as Layer.Layer<Model.Model, Oops, Db>
    sameType<Effect.Effect<string, Own | Oops, Db>>()(Agent.make("own", { model: layer })(""))
    // @ts-expect-error this layer gives no model
    Agent.make("own", { model: {} as Layer.Layer<Db> })
  })

  it("a fixer without a model of its own needs one, also under an agent that has one [A413]", () => {
    const own = Agent.make("own", {
      model: modelLayer,
      skills: [
        Skill.make("s", {
          description: "d",
          tools: [count.pipe(Tool.onError({ NoKeys: Recovery.fix(Agent.make("fixer", {})) }))]
        })
      ]
    })
    sameType<Effect.Effect<string, Own | BadArgs | Boom | Hard, Model.Model>>()(own(""))
  })

  it("the needs of listeners are needs of the agent, and listeners cannot fail [A604]", () => {
    const agent = having(check)
    const saving = (): Effect.Effect<void, never, Db> => Effect.void
    sameType<Call<BadArgs, Db>>()(agent.pipe(Agent.onToolUse(saving))(""))
    sameType<Call<BadArgs, Db>>()(agent.pipe(Agent.onEvent(saving))(""))
    sameType<Call<BadArgs>>()(agent.pipe(Agent.onToolUse(() => Effect.void))(""))
    agent.pipe(
      Agent.onToolUse((tool, args, result) => {
        sameType<string>()(tool)
        sameType<Message.ToolCall["arguments"]>()(args)
        sameType<Agent.ToolResult>()(result)
        return Effect.void
      }),
      Agent.onEvent((event) => {
        sameType<AgentEvent.AgentEvent>()(event)
        return Effect.void
      })
    )
    // @ts-expect-error a hook that may fail has to say what then
    agent.pipe(Agent.onToolUse(() => ask))
    // @ts-expect-error a hook that may fail has to say what then
    agent.pipe(Agent.onEvent(() => ask))
  })

  it("a listener of a scope adds no need to the agent, and may have none of its own [P1503]", () => {
    const agent = having(check)
    const scope = {} as Scope.Scope
    const saving = (): Effect.Effect<void, never, Db> => Effect.void
    const provided = (): Effect.Effect<void> => Effect.void
    sameType<Call<BadArgs>>()(agent.pipe(Agent.onEvent(provided, { scope }))(""))
    agent.pipe(
      Agent.onEvent(
        (event) => {
          sameType<AgentEvent.AgentEvent>()(event)
          return Effect.void
        },
        { scope }
      )
    )
    // @ts-expect-error the services of a run may be closed while the scope is open
    agent.pipe(Agent.onEvent(saving, { scope }))
    // @ts-expect-error a hook that may fail has to say what then
    agent.pipe(Agent.onEvent(() => ask, { scope }))
    // @ts-expect-error without a scope there are no options
    agent.pipe(Agent.onEvent(provided, {}))
  })
})

describe("built-in tools", () => {
  const giving = Agent.make("giving", {
    skills: [Skill.make("s", { description: "d", tools: [Tool.escalate, count, Tool.throwException] })]
  })

  it("an agent whose skill lists them ends with EscalationError and ToolExecutionError [A406]", () => {
    sameType<Call<ToolError.EscalationError>>()(call(Tool.escalate))
    sameType<Call<Hard>>()(call(Tool.throwException))
    sameType<Call<BadArgs | NoKeys | Boom | ToolError.EscalationError | Hard>>()(giving(""))
  })

  it("agents that do not list them have neither [A403]", () => {
    sameType<Call<BadArgs>>()(call(check))
  })

  it("defaults do not touch them [A409]", () => {
    sameType<Call<ToolError.EscalationError | Hard>>()(giving.pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))(""))
    sameType<Call<BadArgs | ToolError.EscalationError | Hard>>()(
      giving.pipe(
        Agent.toolDefaults({ ExecutionError: Recovery.ladder(Recovery.retry({ retries: 3 }), Recovery.tell()) })
      )("")
    )
    // an answer has to fit the success types of the other tools only
    sameType<Call<ToolError.EscalationError | Hard>>()(
      giving.pipe(Agent.toolDefaults({ orElse: Recovery.respondWith(0) }))("")
    )
    // @ts-expect-error count, the only tool that defaults are for, does not fail with it
    giving.pipe(Agent.toolDefaults({ EscalationError: Recovery.tell() }))
    // @ts-expect-error count, the only tool that defaults are for, does not fail with it
    giving.pipe(Agent.toolDefaults({ ToolExecutionError: Recovery.tell() }))
  })

  it("no table can name them [A409]", () => {
    // @ts-expect-error escalate is outside every table
    giving.pipe(Agent.onToolError({ escalate: { EscalationError: Recovery.tell() } }))
    // @ts-expect-error throwException is outside every table
    giving.pipe(Agent.onToolError({ throwException: { orElse: Recovery.tell() } }))
    sameType<Call<BadArgs | Boom | ToolError.EscalationError | Hard>>()(
      giving.pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() } }))("")
    )
  })

  it("as a fixer, an agent that escalates leaves no EscalationError: it is told [A310]", () => {
    const fixer = having(Tool.escalate)
    sameType<Call<BadArgs | Boom | Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.fix(fixer) }))))
    sameType<Call<BadArgs | Boom>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.fix(fixer), Recovery.tell()) })))
    )
  })

  it("as a fixer, an agent that throws leaves ToolExecutionError, with any rung after it [A311]", () => {
    const fixer = having(Tool.throwException)
    sameType<Call<BadArgs | Boom | Hard>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.fix(fixer), Recovery.tell()) })))
    )
  })
})

describe("agents as values", () => {
  it("a deterministic agent has the types of its function, and no model [A301]", () => {
    const agent = Agent.deterministic("d", (n: number) => Effect.as(ask, [n] as const))
    sameType<Agent.Agent<number, readonly [number], Oops, Db, never, {}, {}, NoModel, undefined, "d">>()(agent)
    sameType<Effect.Effect<readonly [number], Oops, Db>>()(agent(1))
    // @ts-expect-error its input is a number
    agent("1")
  })

  it("a function that throws is an agent that fails with what is made of that [P1351]", () => {
    const agent = Agent.fromFunction("f", (n: number, { signal }) => (signal.aborted ? [n] : Promise.resolve([n])))
    sameType<Effect.Effect<Array<number>, ToolError.FunctionError>>()(agent(1))
    sameType<"f">()(agent.name)
    const skilled = Agent.make("s", {
      skills: [Skill.fromFunction("f", { description: "d", run: (text) => text.length })]
    })
    sameType<Effect.Effect<number, RunError.BudgetExceededError | ToolError.FunctionError>>()(skilled("x"))
    // @ts-expect-error a fixer gives text
    Recovery.fix(Agent.fromFunction("f", (raw: string) => raw.length))
  })

  it("a deterministic agent escalates by failing [A407]", () => {
    const agent = Agent.deterministic("d", (_raw: string): Effect.Effect<string, ToolError.EscalationError> =>
      Effect.succeed("")
    )
    sameType<Effect.Effect<string, ToolError.EscalationError>>()(agent(""))
  })

  it("the stream of a run fails and needs as the run does [A509]", () => {
    sameType<Stream.Stream<AgentEvent.AgentEvent, Own | BadArgs | NoKeys | Boom, Model.Model | Mail>>()(bare.stream(""))
    const guarded = having(counted).pipe(
      Agent.toolDefaults({ orElse: Recovery.fix(lookup) }),
      Agent.onLlmError({ orElse: Recovery.respondWith(() => Effect.succeed("")) })
    )
    type Run = Effect.Effect<string, RunError.BudgetExceededError | Hard, Model.Model | Db>
    type Events = Stream.Stream<AgentEvent.AgentEvent, RunError.BudgetExceededError | Hard, Model.Model | Db>
    sameType<Run>()(guarded(""))
    sameType<Events>()(guarded.stream(""))
  })

  it("an agent within a tool gives its failures to the tool, its budget included [A113]", () => {
    const calling = Tool.make("asking", {
      description: "Asks another agent.",
      parameters: Schema.Struct({ json: Schema.String }),
      success: Schema.String,
      run: ({ json }) => having(counted)(json)
    })
    sameType<Call<BadArgs | Boom>>()(call(calling))
    sameType<Call<BadArgs | Boom>>()(call(calling.pipe(Tool.onError({ BudgetExceededError: Recovery.tell() }))))
    sameType<Call<never>>()(call(calling.pipe(Tool.onError({ orElse: Recovery.tell() }))))
  })
})

describe("agents that go on", () => {
  type Refused = DoorError.SnapshotRefusedError | RunError.UnknownPriceError

  it("have the refusal of a snapshot in their failures, and need no more than before [P1363 P1506]", () => {
    const agent = having(count)
    type Run = ReturnType<typeof agent>
    sameType<Effect.Effect<string, Effect.Error<Run> | Refused, Effect.Services<Run>>>()(
      Agent.resume(agent)({ from: [] })
    )
    sameType<Stream.Stream<AgentEvent.AgentEvent, Effect.Error<Run> | Refused, Effect.Services<Run>>>()(
      Agent.resume(agent).stream({ from: [] })
    )
    type _ = Expect<Equal<Extract<Effect.Error<Run>, Refused>, never>>
    Agent.resume(agent)({ from: [], repeat: true, audience: { tenant: "acme" } })
    // @ts-expect-error an audience says its parts as texts
    Agent.resume(agent)({ from: [], audience: { tenant: 7 } })
  })

  it("read documents that may be refused, and sign them without a service of their own [P1505]", () => {
    sameType<Effect.Effect<Snapshot.Snapshot, Schema.SchemaError | DoorError.SnapshotRefusedError>>()(
      Snapshot.fromJson({})
    )
    sameType<Effect.Effect<Approval.Decided, DoorError.SnapshotRefusedError>>()(
      Snapshot.verifyDecision({ digest: "", decision: Approval.approve })
    )
    sameType<Effect.Effect<Approval.Decided>>()(Snapshot.signDecision({ digest: "", decision: Approval.approve }))
    sameType<Layer.Layer<never, never, SqlClient>>()(SnapshotClaims.layerSql())
    sameType<Layer.Layer<never, never, KeyValueStore>>()(SnapshotClaims.layerKeyValueStore)
    sameType<Layer.Layer<never>>()(SnapshotKeys.layer({ keys: [{ id: "", secret: Redacted.make("") }] }))
    // @ts-expect-error a key is redacted
    SnapshotKeys.layer({ keys: [{ id: "", secret: "" }] })
    // @ts-expect-error a ring has a key that signs
    SnapshotKeys.layer({ keys: [] })
  })
})
