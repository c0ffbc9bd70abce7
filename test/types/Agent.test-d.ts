/** Agents: the program of the first page, what they need, their built-in tools, and what they are as values. */
import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import type { AgentEvent, LlmError, Message, Model, RunError, ToolError } from "@kintsugi/core"
import { Effect, type Layer, Schema, type Stream } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./Identity.ts"
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
} from "./subjects.ts"

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

  it("A412 leaves exactly what nothing handles", () => {
    sameType<
      Effect.Effect<
        string,
        LlmError.LlmError | ToolError.ToolExecutionError | RunError.BudgetExceededError,
        Model.Model
      >
    >()(analyst("How many keys? {name: world, age: 30, active: true}"))
  })

  it("A412 its fixers leave what they fail with, and need nothing", () => {
    sameType<Effect.Effect<string, LlmError.LlmError | ToolError.EscalationError | RunError.BudgetExceededError>>()(
      fixer("")
    )
    sameType<Effect.Effect<string>>()(cleanup(""))
  })

  it("A412 its parts compose with plain Effect", () => {
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
  it("A509 those of handlers, fixers and schedules are needs of the call, from every level", () => {
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

  it("A504 those of a row that was replaced are gone", () => {
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

  it("A413 an agent with a model of its own does not need one", () => {
    const own = Agent.make("own", { model: modelLayer })
    sameType<Effect.Effect<string, Own>>()(own(""))
    sameType<Effect.Effect<string, Own | BadArgs | Boom, Mail>>()(
      Agent.make("own", {
        model: modelLayer,
        skills: [Skill.make("s", { description: "d", tools: [name] })]
      })("")
    )
  })

  it("A413 the failures and needs of its layer are its own", () => {
    const layer = {} as Layer.Layer<Model.Model, Oops, Db>
    sameType<Effect.Effect<string, Own | Oops, Db>>()(Agent.make("own", { model: layer })(""))
    // @ts-expect-error this layer gives no model
    Agent.make("own", { model: {} as Layer.Layer<Db> })
  })

  it("A413 a fixer without a model of its own needs one, also under an agent that has one", () => {
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

  it("A604 those of hooks are needs of the agent, and hooks cannot fail", () => {
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
})

describe("built-in tools", () => {
  const giving = Agent.make("giving", {
    skills: [Skill.make("s", { description: "d", tools: [Tool.escalate, count, Tool.throwException] })]
  })

  it("A406 an agent whose skill lists them ends with EscalationError and ToolExecutionError", () => {
    sameType<Call<ToolError.EscalationError>>()(call(Tool.escalate))
    sameType<Call<Hard>>()(call(Tool.throwException))
    sameType<Call<BadArgs | NoKeys | Boom | ToolError.EscalationError | Hard>>()(giving(""))
  })

  it("A403 agents that do not list them have neither", () => {
    sameType<Call<BadArgs>>()(call(check))
  })

  it("A409 defaults do not touch them", () => {
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

  it("A409 no table can name them", () => {
    // @ts-expect-error escalate is outside every table
    giving.pipe(Agent.onToolError({ escalate: { EscalationError: Recovery.tell() } }))
    // @ts-expect-error throwException is outside every table
    giving.pipe(Agent.onToolError({ throwException: { orElse: Recovery.tell() } }))
    sameType<Call<BadArgs | Boom | ToolError.EscalationError | Hard>>()(
      giving.pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() } }))("")
    )
  })

  it("A310 as a fixer, an agent that escalates leaves no EscalationError: it is told", () => {
    const fixer = having(Tool.escalate)
    sameType<Call<BadArgs | Boom | Hard>>()(call(count.pipe(Tool.onError({ NoKeys: Recovery.fix(fixer) }))))
    sameType<Call<BadArgs | Boom>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.fix(fixer), Recovery.tell()) })))
    )
  })

  it("A311 as a fixer, an agent that throws leaves ToolExecutionError, whatever rung follows", () => {
    const fixer = having(Tool.throwException)
    sameType<Call<BadArgs | Boom | Hard>>()(
      call(count.pipe(Tool.onError({ NoKeys: Recovery.ladder(Recovery.fix(fixer), Recovery.tell()) })))
    )
  })
})

describe("agents as values", () => {
  it("A301 a deterministic agent has the types of its function, and no model", () => {
    const agent = Agent.deterministic("d", (n: number) => Effect.as(ask, [n] as const))
    sameType<Agent.Agent<number, readonly [number], Oops, Db>>()(agent)
    sameType<Effect.Effect<readonly [number], Oops, Db>>()(agent(1))
    // @ts-expect-error its input is a number
    agent("1")
  })

  it("A407 a deterministic agent escalates by failing", () => {
    const agent = Agent.deterministic("d", (_raw: string): Effect.Effect<string, ToolError.EscalationError> =>
      Effect.succeed("")
    )
    sameType<Effect.Effect<string, ToolError.EscalationError>>()(agent(""))
  })

  it("A509 the stream of a run fails and needs as the run does", () => {
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

  it("A113 an agent within a tool gives its failures to the tool, its budget included", () => {
    const asking = Tool.make("asking", {
      description: "Asks another agent.",
      parameters: Schema.Struct({ json: Schema.String }),
      success: Schema.String,
      run: ({ json }) => having(counted)(json)
    })
    sameType<Call<BadArgs | Boom>>()(call(asking))
    sameType<Call<BadArgs | Boom>>()(call(asking.pipe(Tool.onError({ BudgetExceededError: Recovery.tell() }))))
    sameType<Call<never>>()(call(asking.pipe(Tool.onError({ orElse: Recovery.tell() }))))
  })
})
