/** Three levels of tables: what an agent's call leaves of the failures of its tools, and what the tables admit. */
import { Agent, type LlmError, type Model, Recovery, type RunError, Skill, Tool, type ToolError } from "@kintsugi/core"
import { Effect } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  bare,
  type Boom,
  cleanup,
  count,
  type Db,
  having,
  lookup,
  type Mail,
  type NoKeys,
  type Oops,
  type Own,
  pay
} from "./_support/subjects.ts"

type Hard = ToolError.ToolExecutionError
type Call<E, R = never> = Effect.Effect<string, Own | E, Model.Model | R>

declare const isOn: boolean

/** As `count`, with a table of its own. */
const counted = count.pipe(Tool.onError({ NoKeys: Recovery.tell() }))

describe("three levels of tables", () => {
  it("without a row the failures of all tools leave as themselves [A507]", () => {
    sameType<Call<BadArgs | NoKeys | Boom, Mail>>()(bare(""))
    sameType<Call<never>>()(Agent.make("empty", {})(""))
    sameType<Call<never>>()(Agent.make("empty", { skills: [] })(""))
    sameType<Call<never>>()(Agent.make("empty", { skills: [Skill.make("s", { description: "d" })] })(""))
  })

  it("the tool's row beats the agent's row, the agent's row beats the defaults [A501]", () => {
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

  it("the lookup is per tag: each tag is settled at the first level that has a row for it [A501]", () => {
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

  it("a general row of a nearer level beats an exact row of a farther one [A501]", () => {
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

  it("an agent's row is for the tool that it names, a default for all tools [A501]", () => {
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

  it("a lower level changes nothing while a higher one matches [A503]", () => {
    const agent = having(count).pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() } }))
    const telling = agent("")
    const raising = agent.pipe(Agent.toolDefaults({ NoKeys: Recovery.raise }))("")
    const letting = agent.pipe(Agent.toolDefaults({ NoKeys: Recovery.rethrow }))("")
    type _ = [Expect<Equal<typeof telling, typeof raising>>, Expect<Equal<typeof telling, typeof letting>>]
  })

  it("a second table of the same level wins per tag, the other rows stay [A504]", () => {
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

  it("rethrow is final: no farther level decides [A509]", () => {
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

  it("a row that may be absent lets the farther levels decide too [A509]", () => {
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

  it("the order of the pipe changes nothing [A501]", () => {
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

  it("the order of two tables for different tools or tags changes nothing [A501]", () => {
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
  it("a table for an unknown tool does not compile [A505]", () => {
    // @ts-expect-error there is no tool named cont
    bare.pipe(Agent.onToolError({ cont: { NoKeys: Recovery.tell() } }))
    // @ts-expect-error a table beside it does not change that
    bare.pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() }, cont: { NoKeys: Recovery.tell() } }))
    // @ts-expect-error this agent has no tool
    Agent.make("empty", {}).pipe(Agent.onToolError({ count: { NoKeys: Recovery.tell() } }))
    const spare = { count: { NoKeys: Recovery.tell() }, cont: { orElse: Recovery.tell() } }
    // @ts-expect-error nor in a table that was made before
    bare.pipe(Agent.onToolError(spare))
  })

  it("a row for a tag that cannot occur does not compile [A506]", () => {
    // @ts-expect-error name does not fail with NoKeys
    bare.pipe(Agent.onToolError({ name: { NoKeys: Recovery.tell() } }))
    // @ts-expect-error name does not fail with NoKeys, and a row beside it does not change that
    bare.pipe(Agent.onToolError({ name: { Boom: Recovery.tell(), NoKeys: Recovery.tell() } }))
    // @ts-expect-error no tool fails with Oops
    bare.pipe(Agent.toolDefaults({ Oops: Recovery.tell() }))
    // @ts-expect-error model failures are for onLlmError
    bare.pipe(Agent.toolDefaults({ NetworkError: Recovery.tell() }))
  })

  it("callbacks see the failures of their row and tool [A506]", () => {
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

  it("respondWith fits the success type of the tool, in defaults that of every tool [A510]", () => {
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

  it("rows that name an unsafe tool need acknowledgement, defaults do not [P601]", () => {
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
