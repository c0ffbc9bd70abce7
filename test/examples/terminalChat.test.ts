import { assert, it } from "@effect/vitest"
import { Agent, LlmError, type Message, type Model, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { chat } from "@kintsugi/examples/19-terminal-chat"
import { desk } from "@kintsugi/examples/backend/desk"
import { layerMemory, type Shop } from "@kintsugi/examples/backend/shop"
import { Deferred, Effect, Fiber, Layer, type PlatformError, type Terminal } from "effect"
import { sameType } from "../types/_support/Identity.ts"
import { orders, shopOf } from "./_support/backendServer.ts"
import * as ScriptedTerminal from "./_support/scriptedTerminal.ts"

const { answers, call, calls, fails, make, text } = ScriptedModel

const looking = calls(call("findOrder", { orderId: "A-17" }))

const talk = chat(Agent.resume(desk))

const within = (
  model: Layer.Layer<Model.Model>,
  terminal: Layer.Layer<Terminal.Terminal>,
  shop = layerMemory(orders)
) => Effect.provide(talk, Layer.mergeAll(model, terminal, shop))

const parts = (words: string): ReadonlyArray<Model.Part> => [{ type: "text-delta", text: words }]

/** A model that says some words, and then no more. */
const writing = (words: string): ScriptedModel.ScriptedStep => ({ ...answers(() => Effect.never), parts: parts(words) })

const rolesOf = (messages: Message.Transcript | undefined) => (messages ?? []).map(({ role }) => role).join(" ")

it.effect(
  "19-terminal-chat: each turn reads those before it, tools are named, and the end of the input is the end",
  () =>
    Effect.gen(function* () {
      sameType<Effect.Effect<void, PlatformError.PlatformError, Model.Model | Shop | Terminal.Terminal>>()(talk)
      const model = yield* make(looking, text("A lamp."), text("49 euros."))
      const terminal = yield* ScriptedTerminal.make
      yield* terminal.type("What is order A-17?", "And its price?")
      yield* terminal.end
      yield* within(model.layer, terminal.layer)
      assert.strictEqual(yield* terminal.shown, '\n> \n[findOrder {"orderId":"A-17"}]\nA lamp.\n> 49 euros.\n> ')
      assert.isTrue(model.requests.every(({ isStreamed }) => isStreamed))
      assert.strictEqual(rolesOf(model.requests[2]?.messages), "system user assistant assistant user")
      assert.strictEqual(yield* terminal.reading, 0)
    })
)

it.effect("19-terminal-chat: an answer that fails is reported, and the next one goes on from its transcript", () =>
  Effect.gen(function* () {
    const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })
    const model = yield* make(looking, fails(overloaded), text("A lamp."))
    const terminal = yield* ScriptedTerminal.make
    yield* terminal.type("What is order A-17?", "Once more, please.")
    yield* terminal.end
    yield* within(model.layer, terminal.layer)
    assert.include(yield* terminal.shown, `[failed: ${overloaded.message}]\n> A lamp.\n> `)
    const read = model.requests[2]?.messages
    assert.strictEqual(rolesOf(read), "system user assistant user")
    assert.include(JSON.stringify(read), "a lamp")
  })
)

it.effect("19-terminal-chat: a bug is reported like a failure, and ends no chat either", () =>
  Effect.gen(function* () {
    const model = yield* make(
      answers(() => Effect.die(new Error("a bug"))),
      text("Here I am.")
    )
    const terminal = yield* ScriptedTerminal.make
    yield* terminal.type("Hello?", "Are you there?")
    yield* terminal.end
    yield* within(model.layer, terminal.layer)
    assert.strictEqual(yield* terminal.shown, "\n> \n[failed: a bug]\n> Here I am.\n> ")
  })
)

it.effect("19-terminal-chat: words are shown as they come; Ctrl-C stops them, and the chat goes on", () =>
  Effect.gen(function* () {
    const model = yield* make(writing("Once upon"), text("The end."))
    const terminal = yield* ScriptedTerminal.make
    const chatting = yield* Effect.forkChild(within(model.layer, terminal.layer))
    yield* terminal.type("Tell me a tale.")
    yield* terminal.until("Once upon")
    assert.strictEqual(yield* terminal.reading, 1)
    yield* terminal.press("c")
    yield* terminal.press("x", true)
    yield* terminal.press("c", true)
    yield* terminal.until("Once upon\n[run-interrupted]\n> ")
    // a line can be edited again
    assert.strictEqual(yield* terminal.reading, 0)
    yield* terminal.type("Make it short.")
    yield* terminal.end
    yield* Fiber.join(chatting)
    assert.isTrue((yield* terminal.shown).endsWith("> The end.\n> "))
    assert.include(JSON.stringify(model.requests[1]?.messages), "Tell me a tale.")
  })
)

it.effect("19-terminal-chat: a call that was stopped at work is settled, and the next answer has its settlement", () =>
  Effect.gen(function* () {
    const model = yield* make(looking, text("I do not know."))
    const terminal = yield* ScriptedTerminal.make
    const shop = shopOf(() => Effect.never)
    const chatting = yield* Effect.forkChild(within(model.layer, terminal.layer, shop))
    yield* terminal.type("What is order A-17?")
    yield* terminal.until("[findOrder")
    yield* terminal.press("c", true)
    yield* terminal.until("[run-interrupted]")
    yield* terminal.type("Well?")
    yield* terminal.end
    yield* Fiber.join(chatting)
    const called = model.requests[1]?.messages.flatMap((message) =>
      message.role === "assistant" ? message.content : []
    )
    assert.deepStrictEqual(
      called?.map((part) => (part.type === "settled-call" ? part.settlement.kind : part.type)),
      ["interrupted"]
    )
  })
)

it.effect("19-terminal-chat: no other key stops an answer, nor does the end of the input", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const gated = { ...text("A lamp."), parts: parts("It is: ") }
    const late = {
      ...gated,
      answer: (request: Model.Request) => Effect.andThen(Deferred.await(gate), gated.answer(request))
    }
    const model = yield* make(late)
    const terminal = yield* ScriptedTerminal.make
    const chatting = yield* Effect.forkChild(within(model.layer, terminal.layer))
    yield* terminal.type("What is order A-17?")
    yield* terminal.until("It is: ")
    yield* terminal.press("c")
    yield* terminal.press("d", true)
    yield* terminal.end
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(chatting)
    assert.strictEqual(yield* terminal.shown, "\n> It is: A lamp.\n> ")
  })
)

it.effect("19-terminal-chat: control codes of a cursor are neither shown nor sent; a needed person is named", () =>
  Effect.gen(function* () {
    const dear = calls(call("refund", { orderId: "B-4", cents: 78_000 }))
    const model = yield* make(text("\u001b[2J\rred\nline"), dear)
    const terminal = yield* ScriptedTerminal.make
    yield* terminal.type("\u0003hello", "Pay B-4 back.")
    yield* terminal.end
    yield* within(model.layer, terminal.layer)
    const shown = yield* terminal.shown
    assert.include(shown, "\n> [2Jred\nline\n> ")
    assert.include(shown, "[refund ")
    assert.isTrue(shown.endsWith("\n[run-suspended]\n> "))
    assert.deepStrictEqual(model.requests[0]?.messages.at(-1), {
      role: "user",
      content: [{ type: "text", text: "hello" }]
    })
  })
)

it.effect("19-terminal-chat: of an agent that is a tool only the call is shown", () =>
  Effect.gen(function* () {
    const clerk = Agent.make("clerk", { prompt: "You know the shelves." })
    const front = Agent.make("front", {
      skills: [
        Skill.make("ask", { description: "Asks", tools: [Agent.asTool(clerk, { description: "Asks the clerk." })] })
      ]
    })
    const model = yield* make(calls(call("clerk", { input: "A lamp?" })), text("Shelf four."), text("We have one."))
    const terminal = yield* ScriptedTerminal.make
    yield* terminal.type("Do you have a lamp?")
    yield* terminal.end
    yield* Effect.provide(chat(Agent.resume(front)), Layer.merge(model.layer, terminal.layer))
    assert.strictEqual(yield* terminal.shown, '\n> \n[clerk {"input":"A lamp?"}]\nWe have one.\n> ')
  })
)
