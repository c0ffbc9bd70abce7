/** Agents: what their calls leave of the failures of tools, behind three levels of tables, and what they need. */
import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import type { AgentEvent, LlmError, Message, Model, RunError, ToolError } from "@kintsugi/core"
import { Effect, type Layer, Schema, type Stream } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./Identity.ts"
import {
  ask,
  type BadArgs,
  bare,
  type Boom,
  call,
  check,
  cleanup,
  count,
  type Db,
  having,
  lookup,
  type Mail,
  modelLayer,
  name,
  NoKeys,
  type Oops,
  type Own,
  pay
} from "./subjects.ts"

type Hard = ToolError.ToolExecutionError
type Call<E, R = never> = Effect.Effect<string, Own | E, Model.Model | R>

declare const isOn: boolean

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

describe("three levels of tables", () => {
  it("A507 without a row the failures of all tools leave as themselves", () => {
    sameType<Call<BadArgs | NoKeys | Boom, Mail>>()(bare(""))
    sameType<Call<never>>()(Agent.make("empty", {})(""))
    sameType<Call<never>>()(Agent.make("empty", { skills: [] })(""))
    sameType<Call<never>>()(Agent.make("empty", { skills: [Skill.make("s", { description: "d" })] })(""))
  })

  it("A501 the tool's row beats the agent's row, the agent's row beats the defaults", () => {
    const agent = having(counted)
    sameType<Call<BadArgs | Boom>>()(agent.pipe(Agent.onToolError({ count: { NoKeys: Recovery.raise } }))(""))
    sameType<Call<BadArgs | Boom>>()(agent.pipe(Agent.toolDefaults({ NoKeys: Recovery.raise }))(""))
    sameType<Call<BadArgs | Boom>>()(
      having(count).pipe(
        Agent.onToolError({ count: { NoKeys: Recovery.tell() } }),
        Agent.toolDefaults({ NoKeys: Recovery.raise })
      )("")
    )
    sameType<Call<BadArgs | Boom | NoKeys>>()(
      having(count.pipe(Tool.onError({ NoKeys: Recovery.rethrow }))).pipe(
        Agent.onToolError({ count: { NoKeys: Recovery.raise } }),
        Agent.toolDefaults({ NoKeys: Recovery.tell() })
      )("")
    )
  })

  it("A501 the lookup is per tag: each tag is settled at the first level that has a row for it", () => {
    sameType<Call<ToolError.DeserializationError | Boom | Oops, Db>>()(
      having(counted).pipe(
        Agent.onToolError({ count: { Boom: Recovery.rethrow, InvalidArgs: Recovery.respondWith(() => ask) } }),
        Agent.onToolError({ count: { DeserializationError: Recovery.rethrow } }),
        Agent.toolDefaults({ orElse: Recovery.raise })
      )("")
    )
    sameType<Call<NoKeys | Hard>>()(
      having(count.pipe(Tool.onError({ Boom: Recovery.tell() }))).pipe(
        Agent.onToolError({ count: { NoKeys: Recovery.rethrow } }),
        Agent.toolDefaults({ InvalidArgs: Recovery.raise, NoKeys: Recovery.tell(), Boom: Recovery.raise })
      )("")
    )
  })

  it("A501 a general row of a nearer level beats an exact row of a farther one", () => {
    sameType<Call<BadArgs>>()(
      having(count.pipe(Tool.onError({ ExecutionError: Recovery.tell() }))).pipe(
        Agent.onToolError({ count: { NoKeys: Recovery.raise } }),
        Agent.toolDefaults({ Boom: Recovery.raise })
      )("")
    )
    sameType<Call<never>>()(
      having(count.pipe(Tool.onError({ orElse: Recovery.tell() }))).pipe(
        Agent.toolDefaults({ orElse: Recovery.raise })
      )("")
    )
    sameType<Call<BadArgs | Boom | Hard>>()(
      having(count).pipe(
        Agent.onToolError({ count: { ExecutionError: Recovery.rethrow, NoKeys: Recovery.raise } }),
        Agent.toolDefaults({ NoKeys: Recovery.tell(), Boom: Recovery.tell() })
      )("")
    )
  })

  it("A501 an agent's row is for the tool that it names, a default for all tools", () => {
    sameType<Call<BadArgs | NoKeys | Boom | Hard, Mail>>()(
      bare.pipe(Agent.onToolError({ count: { NoKeys: Recovery.raise, Boom: Recovery.raise } }))("")
    )
    sameType<Call<BadArgs | Boom, Mail>>()(
      bare.pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() }, pay: { NoKeys: Recovery.tell() } }))("")
    )
    sameType<Call<NoKeys | Boom | Hard, Mail>>()(
      bare.pipe(
        Agent.onToolError({ name: { Boom: Recovery.tell() } }),
        Agent.toolDefaults({ InvalidArgs: Recovery.raise })
      )("")
    )
    sameType<Call<never, Mail>>()(bare.pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))(""))
  })

  it("A503 a lower level changes nothing while a higher one matches", () => {
    const agent = having(count).pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() } }))
    const told = agent("")
    const raising = agent.pipe(Agent.toolDefaults({ NoKeys: Recovery.raise }))("")
    const letting = agent.pipe(Agent.toolDefaults({ NoKeys: Recovery.rethrow }))("")
    type _ = [Expect<Equal<typeof told, typeof raising>>, Expect<Equal<typeof told, typeof letting>>]
  })

  it("A504 a second table of the same level wins per tag, the other rows stay", () => {
    sameType<Call<BadArgs | NoKeys>>()(
      having(count).pipe(
        Agent.onToolError({ count: { NoKeys: Recovery.respondWith(() => ask), Boom: Recovery.tell() } }),
        Agent.onToolError({ count: { NoKeys: Recovery.rethrow } })
      )("")
    )
    sameType<Call<BadArgs | NoKeys>>()(
      having(count).pipe(
        Agent.toolDefaults({ NoKeys: Recovery.respondWith(() => ask), Boom: Recovery.tell() }),
        Agent.toolDefaults({ NoKeys: Recovery.rethrow })
      )("")
    )
    sameType<Call<BadArgs | NoKeys, Mail>>()(
      bare.pipe(
        Agent.onToolError({ count: { Boom: Recovery.tell() }, name: { Boom: Recovery.tell() } }),
        Agent.onToolError({ pay: { Boom: Recovery.tell() } })
      )("")
    )
  })

  it("A509 rethrow is final: no farther level is asked", () => {
    sameType<Call<BadArgs | NoKeys | Boom>>()(
      having(count.pipe(Tool.onError({ NoKeys: Recovery.rethrow }))).pipe(
        Agent.onToolError({ count: { NoKeys: Recovery.tell() } }),
        Agent.toolDefaults({ NoKeys: Recovery.tell() })
      )("")
    )
    sameType<Call<NoKeys>>()(
      having(count.pipe(Tool.onError({ NoKeys: Recovery.rethrow }))).pipe(
        Agent.toolDefaults({ orElse: Recovery.tell() })
      )("")
    )
    sameType<Call<Boom>>()(
      having(count).pipe(
        Agent.onToolError({ count: { Boom: Recovery.rethrow } }),
        Agent.toolDefaults({ orElse: Recovery.tell() })
      )("")
    )
  })

  it("A509 a row that may be absent lets the farther levels have a say", () => {
    const some: { NoKeys?: Recovery.Verdict<NoKeys, number, Oops, Db> } = {}
    sameType<Call<BadArgs | Boom | Oops | Hard, Db>>()(
      having(count.pipe(Tool.onError(some))).pipe(Agent.toolDefaults({ NoKeys: Recovery.raise }))("")
    )
    sameType<Call<BadArgs | Boom | Oops, Db>>()(
      having(count).pipe(
        Agent.onToolError({ count: some }),
        Agent.toolDefaults({ NoKeys: isOn ? Recovery.tell() : Recovery.escalate() })
      )("")
    )
    const table: { count?: { NoKeys: Recovery.Verdict<NoKeys, number> } } = {}
    // @ts-expect-error the table of a tool is there or it is not
    having(count).pipe(Agent.onToolError(table))
  })

  it("A501 the order of the pipe changes nothing", () => {
    const byTool = Agent.onToolError<typeof counted, { count: { NoKeys: typeof Recovery.rethrow } }>({
      count: { NoKeys: Recovery.rethrow }
    })
    const agent = having(counted)
    const model = { NetworkError: Recovery.respondWith("") }
    const first = agent.pipe(
      byTool,
      Agent.toolDefaults({ Boom: Recovery.raise, InvalidArgs: Recovery.respondWith(() => ask) }),
      Agent.onLlmError(model),
      Agent.onToolUse(() => Effect.asVoid(lookup("").pipe(Effect.orDie))),
      Agent.onEvent(() => Effect.void)
    )
    const second = agent.pipe(
      Agent.onEvent(() => Effect.void),
      Agent.onLlmError(model),
      Agent.onToolUse(() => Effect.asVoid(lookup("").pipe(Effect.orDie))),
      Agent.toolDefaults({ Boom: Recovery.raise, InvalidArgs: Recovery.respondWith(() => ask) }),
      byTool
    )
    type _ = [
      Expect<Equal<typeof first, typeof second>>,
      Expect<
        Equal<
          ReturnType<typeof first>,
          Effect.Effect<
            string,
            Exclude<LlmError.LlmError, LlmError.NetworkError> | RunError.BudgetExceededError | Oops | Hard,
            Model.Model | Db
          >
        >
      >
    ]
  })

  it("A501 the order of two tables for different tools or tags changes nothing", () => {
    const a = bare.pipe(
      Agent.onToolError({ count: { NoKeys: Recovery.tell() } }),
      Agent.onToolError({ name: { Boom: Recovery.raise } })
    )
    const b = bare.pipe(
      Agent.onToolError({ name: { Boom: Recovery.raise } }),
      Agent.onToolError({ count: { NoKeys: Recovery.tell() } })
    )
    const c = bare.pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() }, name: { Boom: Recovery.raise } }))
    const d = bare.pipe(Agent.toolDefaults({ Boom: Recovery.raise }), Agent.toolDefaults({ NoKeys: Recovery.tell() }))
    const e = bare.pipe(Agent.toolDefaults({ NoKeys: Recovery.tell() }), Agent.toolDefaults({ Boom: Recovery.raise }))
    type _ = [Expect<Equal<typeof a, typeof b>>, Expect<Equal<typeof a, typeof c>>, Expect<Equal<typeof d, typeof e>>]
  })
})

describe("tables of an agent", () => {
  it("A505 a table for an unknown tool does not compile", () => {
    // @ts-expect-error there is no tool named cont
    bare.pipe(Agent.onToolError({ cont: { NoKeys: Recovery.tell() } }))
    // @ts-expect-error a table beside it does not change that
    bare.pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() }, cont: { NoKeys: Recovery.tell() } }))
    // @ts-expect-error this agent has no tool
    Agent.make("empty", {}).pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() } }))
    const spare = { count: { NoKeys: Recovery.tell() }, cont: { NoKeys: Recovery.tell() } }
    // @ts-expect-error nor in a table that was made before
    bare.pipe(Agent.onToolError(spare))
  })

  it("A506 a row for a tag that cannot occur does not compile", () => {
    // @ts-expect-error name does not fail with NoKeys
    bare.pipe(Agent.onToolError({ name: { NoKeys: Recovery.tell() } }))
    // @ts-expect-error name does not fail with NoKeys, and a row beside it does not change that
    bare.pipe(Agent.onToolError({ name: { Boom: Recovery.tell(), NoKeys: Recovery.tell() } }))
    // @ts-expect-error no tool fails with Oops
    bare.pipe(Agent.toolDefaults({ Oops: Recovery.tell() }))
    // @ts-expect-error model failures are for onLlmError
    bare.pipe(Agent.toolDefaults({ NetworkError: Recovery.tell() }))
  })

  it("A506 callbacks see the failures of their row and tool", () => {
    bare.pipe(
      Agent.onToolError({
        count: {
          NoKeys: Recovery.tell((error) => {
            sameType<NoKeys>()(error)
            return error.json
          }),
          InvalidArgs: Recovery.ladder(
            Recovery.fix(cleanup),
            Recovery.tell((error) => {
              sameType<BadArgs>()(error)
              return error.message
            })
          )
        },
        name: {
          ExecutionError: Recovery.when((error, context) => {
            sameType<ToolError.ExecutionError>()(error)
            sameType<Recovery.FailureContext>()(context)
            return Recovery.tell()
          }),
          orElse: Recovery.tell((error) => {
            sameType<BadArgs | Boom>()(error)
            return error.message
          })
        },
        check: {
          orElse: Recovery.respondWith((error) => {
            sameType<BadArgs>()(error)
            return Effect.succeed(error.message === "")
          })
        }
      }),
      Agent.toolDefaults({
        Boom: Recovery.tell((error) => {
          sameType<Boom>()(error)
          return String(error.n)
        }),
        orElse: Recovery.ladder(
          Recovery.retry({ retries: 1 }),
          Recovery.tell((error) => {
            sameType<BadArgs | NoKeys | Boom>()(error)
            return error.message
          })
        )
      })
    )
  })

  it("A510 respondWith fits the success type of the tool, in defaults that of every tool", () => {
    bare.pipe(
      Agent.onToolError({ count: { NoKeys: Recovery.respondWith(0) }, name: { Boom: Recovery.respondWith("") } })
    )
    // @ts-expect-error count gives a number
    bare.pipe(Agent.onToolError({ count: { NoKeys: Recovery.respondWith("") } }))
    const zero = Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.respondWith(0))
    // @ts-expect-error name gives a text
    bare.pipe(Agent.onToolError({ name: { Boom: zero } }))
    // @ts-expect-error not every tool gives a number
    bare.pipe(Agent.toolDefaults({ NoKeys: Recovery.respondWith(0) }))
    having(count).pipe(Agent.toolDefaults({ NoKeys: Recovery.respondWith(0) }))
    // @ts-expect-error count gives a number
    having(count).pipe(Agent.toolDefaults({ NoKeys: Recovery.respondWith("") }))
  })

  it("P601 rows that name an unsafe tool need acknowledgement, defaults do not", () => {
    // @ts-expect-error it may pay twice
    bare.pipe(Agent.onToolError({ pay: { NoKeys: Recovery.retry({ retries: 1 }) } }))
    // @ts-expect-error it may pay twice
    bare.pipe(Agent.onToolError({ pay: { NoKeys: Recovery.fix(cleanup) } }))
    // @ts-expect-error it may pay twice
    bare.pipe(Agent.onToolError({ pay: { orElse: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()) } }))
    sameType<Call<NoKeys | Boom | Hard>>()(
      having(pay).pipe(Agent.onToolError({ pay: { InvalidArgs: Recovery.fix(cleanup) } }))("")
    )
    sameType<Call<BadArgs | Boom | Hard>>()(
      having(pay).pipe(
        Agent.onToolError({ pay: { NoKeys: Recovery.retry({ retries: 1, acknowledge: "may run twice" }) } })
      )("")
    )
    sameType<Call<Boom, Mail>>()(
      bare.pipe(
        Agent.toolDefaults({
          NoKeys: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.fix(cleanup), Recovery.tell()),
          InvalidArgs: Recovery.tell()
        })
      )("")
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
