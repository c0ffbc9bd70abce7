/** Runs in whose steps agents are called: what those spend belongs to the run, in every replay. */
import { Agent, Message, Recovery, Tool, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Option, Schema, type Scope } from "effect"
import { batch, done } from "../../_support/dialogue.ts"
import { type Cast, cast, Gone, model, skilled, slowly, tools } from "./scenarios.ts"

const about = { description: "Asks.", parameters: Schema.Struct({}), success: Schema.String } as const

const yes = Message.text("yes")

const says = (millis: number) =>
  ScriptedModel.answers(() => slowly(Effect.succeed(ScriptedModel.reply({ content: [yes] })), millis))

export const spending: Readonly<Record<string, Effect.Effect<Cast, never, Scope.Scope>>> = {
  "a tool that is cut off while its agent runs a tool, and while it asks its model": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("ask"), done)
    const nested = yield* model(
      batch("slow"),
      ScriptedModel.answers(() => Effect.never),
      says(10)
    )
    const slow = tool("slow", () => slowly(Effect.succeed("too late"), 60_000))
    const inner = Agent.make("inner", { model: nested.layer, skills: skilled(slow) })
    const ask = Tool.make("ask", { ...about, timeout: 2000, run: () => Effect.orDie(inner("sure?")) }).pipe(
      Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 2 }) })
    )
    return cast(Agent.make("worker", { skills: skilled(ask) }), [asked, nested], runs)
  }),

  "a tool whose run is out of time": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("ask"))
    const nested = yield* model(batch("slow"))
    const slow = tool("slow", () => slowly(Effect.succeed("too late"), 60_000))
    const inner = Agent.make("inner", { model: nested.layer, skills: skilled(slow) })
    const ask = Tool.make("ask", { ...about, run: () => Effect.orDie(inner("sure?")) })
    return cast(
      Agent.make("worker", { budget: { maxDuration: "5 seconds" }, skills: skilled(ask) }),
      [asked, nested],
      runs
    )
  }),

  "a tool that is at work while another one ends": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("ask", "look", "see"), done)
    const nested = yield* model(batch("step"), batch("step"), done)
    const timed = (name: "look" | "see" | "step", millis: number) =>
      tool(name, () => slowly(Effect.succeed(name), millis))
    const inner = Agent.make("inner", { model: nested.layer, skills: skilled(timed("step", 2000)) })
    const ask = Tool.make("ask", { ...about, timeout: 60_000, run: () => Effect.orDie(inner("sure?")) })
    const agent = Agent.make("worker", { skills: skilled(ask, timed("look", 1000), timed("see", 3000)) })
    return cast(agent, [asked, nested], runs)
  }),

  "a policy that asks an agent": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"), batch("look"), done)
    const nested = yield* model(ScriptedModel.text("yes"), ScriptedModel.text("no"))
    const judge = Agent.make("judge", { model: nested.layer })
    const look = tool("look", () => slowly(Effect.succeed("seen")))
    const agent = Agent.make("worker", { skills: skilled(look) }).pipe(
      Agent.toolPolicy(() =>
        Effect.map(Effect.orDie(judge("may it?")), (said) =>
          said === "yes" ? ToolPolicy.allow : ToolPolicy.deny(`the judge said ${said}`)
        )
      )
    )
    return cast(agent, [asked, nested], runs)
  }),

  "a look-up that asks an agent": Effect.gen(function* () {
    const { runs } = tools()
    const asked = yield* model(batch("pay"), done)
    const nested = yield* model(ScriptedModel.text("yes"))
    const auditor = Agent.make("auditor", { model: nested.layer })
    const pay = Tool.make("pay", {
      ...about,
      sideEffects: "unsafe",
      timeout: 2000,
      verify: () => Effect.map(Effect.orDie(auditor("is it paid?")), Option.some),
      run: () => Effect.never
    })
    return cast(Agent.make("worker", { skills: skilled(pay) }), [asked, nested], runs)
  }),

  "something that an agent undoes": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("room"), batch("fail"))
    const nested = yield* model(ScriptedModel.text("yes"))
    const clerk = Agent.make("clerk", { model: nested.layer })
    const room = tool("room", () => slowly(Effect.succeed("a room"))).pipe(
      Tool.compensate(() => Effect.asVoid(clerk("undo it")))
    )
    const fail = tool("fail", () => Effect.fail(new Gone({ message: "gone" })))
    return cast(Agent.make("worker", { skills: skilled(room, fail) }), [asked, nested], runs)
  })
}
