/**
 * The recipe with a page of React, in Chromium: `npm run test:recipes` plays each behaviour once, with a model that is held where the page is
 * to be seen in the middle of an answer. The page is read by roles and names alone.
 */
import { LlmError, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { routes } from "@kintsugi/examples/recipes/react/server"
import { Effect, References } from "effect"
import { HttpRouter } from "effect/http"
import type { Page } from "playwright-core"
import type { Report } from "../../../scripts/report.ts"
import { quiet, serving } from "../../../test/examples/_support/recipe.ts"
import { type Proxy, startProxy } from "../../durable-lab/src/proxy.ts"
import { type Browser, withBrowser } from "./browser.ts"

const { call, calls, fails, reply, text } = ScriptedModel

/** How long Playwright waits for what has to come. */
const LIMIT = 30_000

/** A reply that is held after its first words. */
class Held {
  readonly #gate = Promise.withResolvers<void>()
  readonly release = () => this.#gate.resolve()
  readonly step: ScriptedModel.ScriptedStep

  constructor(shown: string, rest: string) {
    const content = [Message.text(rest)]
    const opened = Effect.promise(() => this.#gate.promise)
    const answer = ScriptedModel.answers(() => Effect.as(opened, reply({ content })))
    this.step = { ...answer, parts: [{ type: "text-delta", text: shown }] }
  }
}

/** The page, as a user finds what is on it. */
const viewOf = (page: Page) => {
  const answers = page.getByRole("article", { name: "Concierge" })
  const button = (name: string, disabled = false) => page.getByRole("button", { name, disabled })
  return {
    ask: async (words: string) => {
      await page.getByRole("textbox", { name: "Message" }).fill(words)
      await button("Send").click()
    },
    press: (name: string) => button(name).click(),
    /** A text is in the last answer: whole, or its first words. */
    says: (words: string) => answers.last().getByText(words, { exact: true }).waitFor(),
    alert: (words: string) => page.getByRole("alert").filter({ hasText: words }).waitFor(),
    /** The answer is over. */
    isOver: () => button("Stop", true).waitFor(),
    /** All that the answers say, and the number of alerts. */
    all: async () => ({
      said: await answers.getByRole("paragraph").allInnerTexts(),
      alerts: await page.getByRole("alert").count()
    }),
    part: (name: string) => page.getByRole("region", { name }),
    approval: page.getByRole("form", { name: "Approve bookTable" })
  }
}

interface Playing {
  readonly page: Page
  readonly view: ReturnType<typeof viewOf>
  readonly model: ScriptedModel.ScriptedModel
  /** The connection of the page to its server. */
  readonly connection: Proxy
  readonly check: (what: string, isRight: boolean, said?: unknown) => void
}

interface Scene {
  readonly steps: ReadonlyArray<ScriptedModel.ScriptedStep>
  readonly play: (playing: Playing) => Promise<void>
  /** The faults that belong to it. */
  readonly expected?: RegExp
  /** Faults that may be there or not, and mean nothing. */
  readonly harmless?: RegExp
}

const lost = /net::ERR_/
const table = { restaurant: "Café Brno", time: "19:30", people: 2 }

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** What the model has read in its last request. */
const lastRead = ({ requests }: ScriptedModel.ScriptedModel) => JSON.stringify(requests.at(-1)?.messages)

const streamed = (): Scene => {
  const held = new Held("Good ", "evening.")
  return {
    steps: [held.step],
    play: async ({ check, view }) => {
      await view.ask("Hello")
      await view.says("Good")
      held.release()
      await view.says("Good evening.")
      await view.isOver()
      const all = await view.all()
      check("text is shown while the model writes it", isEqual(all, { said: ["Good evening."], alerts: 0 }), all)
    }
  }
}

const called = (): Scene => ({
  steps: [calls(call("findTable", { city: "Brno" })), text("There is one.")],
  play: async ({ check, view }) => {
    await view.ask("A table in Brno?")
    await view.says("There is one.")
    const shown = await view.part("findTable").getByRole("status").innerText()
    check("a call is shown with its result", shown === '{"restaurant":"Café Brno","time":"19:30"}', shown)
  }
})

const approved = (): Scene => ({
  steps: [calls(call("bookTable", table)), text("It is booked.")],
  play: async ({ check, model, view }) => {
    await view.ask("Book it.")
    await view.approval.getByText("The table is booked in your name.").waitFor()
    check("a call that needs an approval waits for it", model.requests.length === 1)
    const edited = JSON.stringify({ ...table, people: 4 })
    await view.approval.getByRole("textbox", { name: "Arguments" }).fill(edited)
    await view.press("Approve")
    await view.says("It is booked.")
    const call = view.part("bookTable")
    const result = await call.getByRole("status").innerText()
    check("the call runs with the edited arguments", result === '"Café Brno, 19:30, 4 people"', result)
    const shown = await call.innerText()
    check("the page shows the edited arguments", shown.includes(edited), shown)
    check("the model reads the result", lastRead(model).includes("4 people"), lastRead(model))
  }
})

const refused = (): Scene => ({
  steps: [calls(call("bookTable", table)), text("Then not.")],
  play: async ({ check, model, view }) => {
    await view.ask("Book it.")
    await view.press("Refuse")
    await view.says("Then not.")
    const shown = await view.part("bookTable").getByRole("status").innerText()
    check("a refused call is shown as refused", shown === "You have refused it.", shown)
    check("the model reads the refusal", lastRead(model).includes("The user has refused it."), lastRead(model))
  }
})

const stopped = (): Scene => ({
  steps: [new Held("One, two", ", three.").step, text("Three.")],
  play: async ({ check, model, view }) => {
    await view.ask("Count.")
    await view.says("One, two")
    await view.press("Stop")
    await view.isOver()
    const all = await view.all()
    check("a stop keeps the text", isEqual(all, { said: ["One, two"], alerts: 0 }), all)
    await view.ask("Go on.")
    await view.says("Three.")
    check("the model knows what it has said before the stop", lastRead(model).includes("One, two"), lastRead(model))
  }
})

const reloaded = (): Scene => {
  const held = new Held("One, two", ", three.")
  return {
    steps: [text("Hello."), held.step, text("Four.")],
    // the reload leaves the stream
    expected: /ERR_ABORTED/,
    play: async ({ check, model, page, view }) => {
      await view.ask("Hello")
      await view.says("Hello.")
      await view.ask("Count.")
      await view.says("One, two")
      await page.reload()
      await view.says("One, two")
      held.release()
      await view.says("One, two, three.")
      await view.isOver()
      const all = await view.all()
      const isWhole = isEqual(all, { said: ["Hello.", "One, two, three."], alerts: 0 })
      check("after a reload the page reads on, without a loss and without a repetition", isWhole, all)
      await view.ask("Go on.")
      await view.says("Four.")
      check("the conversation goes on after a reload", lastRead(model).includes("One, two, three."), lastRead(model))
    }
  }
}

const reloadedWaiting = (): Scene => ({
  steps: [calls(call("findTable", { city: "Brno" }), call("bookTable", table)), text("It is booked.")],
  play: async ({ check, page, view }) => {
    await view.ask("Book it.")
    await view.approval.waitFor()
    await view.isOver()
    await page.reload()
    await view.press("Approve")
    await view.says("It is booked.")
    await view.isOver()
    await page.reload()
    await view.says("It is booked.")
    const result = await view.part("bookTable").getByRole("status").innerText()
    const forms = await view.approval.count()
    check("a reload keeps the request for approval, and its answer", result.includes("2 people") && forms === 0, result)
  }
})

const cut = (): Scene => {
  const held = new Held("One, two", ", three.")
  return {
    steps: [held.step],
    expected: lost,
    play: async ({ check, connection, page, view }) => {
      await view.ask("Count.")
      await view.says("One, two")
      const back = page.waitForRequest((request) => request.method() === "GET")
      connection.cut()
      connection.mend()
      await back
      held.release()
      await view.says("One, two, three.")
      await view.isOver()
      const all = await view.all()
      const isWhole = isEqual(all, { said: ["One, two, three."], alerts: 0 })
      check("a page that loses its connection reads on", isWhole, all)
    }
  }
}

const away = (): Scene => {
  const held = new Held("One, two", ", three.")
  return {
    steps: [held.step, text("Four.")],
    expected: lost,
    play: async ({ check, connection, model, view }) => {
      await view.ask("Count.")
      await view.says("One, two")
      connection.cut()
      await view.alert("The connection is lost.")
      held.release()
      connection.mend()
      await view.press("Try again")
      await view.says("One, two, three.")
      await view.isOver()
      const all = await view.all()
      const isWhole = isEqual(all, { said: ["One, two, three."], alerts: 0 })
      check("a page says that its server is away, and reads on later", isWhole, all)
      connection.cut()
      await view.ask("Go on.")
      await view.alert("The connection is lost.")
      connection.mend()
      await view.press("Try again")
      await view.says("Four.")
      check("a message that was not sent is sent once", model.requests.length === 2, model.requests.length)
    }
  }
}

const unanswered = (): Scene => ({
  steps: [text("Hello.")],
  expected: lost,
  play: async ({ check, model, page, view }) => {
    // the server gets the message, and the page no answer
    const chat = /\/chat\//
    await page.route(chat, async (route) => {
      if (route.request().method() !== "POST") return route.fallback()
      await route.fetch()
      await route.abort("connectionreset")
    })
    await view.ask("Hello")
    await view.alert("The connection is lost.")
    await page.unroute(chat)
    await view.press("Try again")
    await view.says("Hello.")
    check("a message that is sent twice is answered once", model.requests.length === 1, model.requests.length)
  }
})

const failed = (): Scene => ({
  steps: [
    fails(LlmError.ModelNotFoundError.make({ model: "scripted" }), { type: "text-delta", text: "One" }),
    text("Hello.")
  ],
  // useChat leaves an answer at its failure: that aborts the request where its last bytes are still on their way
  harmless: /net::ERR_ABORTED/,
  play: async ({ check, page, view }) => {
    await view.ask("Hello")
    await view.alert("The answer failed:")
    const words = await page.getByRole("alert").innerText()
    check("the page says what has failed", words === "The answer failed: Model not found", words)
    await view.ask("Hello")
    await view.says("Hello.")
    check("a chat goes on after a failure", (await view.all()).alerts === 0)
  }
})

const scenes = {
  streamed,
  called,
  approved,
  refused,
  stopped,
  reloaded,
  reloadedWaiting,
  cut,
  away,
  unanswered,
  failed
}

const playing = (browser: Browser, report: Report, { play, steps, ...faults }: Scene, what: string) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(...steps)
    const url = yield* serving(HttpRouter.serve(routes(model.layer), quiet))
    const connection = yield* Effect.acquireRelease(
      Effect.promise(() => startProxy(Number(new URL(url).port))),
      ({ stop }) => Effect.sync(stop)
    )
    const visit = { what, url: `http://127.0.0.1:${connection.port}/`, ...faults }
    const check: Playing["check"] = (which, isRight, said) =>
      report.check(`react: ${which}`, isRight, JSON.stringify(said))
    const seen = browser(visit, async (page) => {
      page.setDefaultTimeout(LIMIT)
      const view = viewOf(page)
      await play({ check, connection, model, page, view })
      // a page that is closed while it reads an answer aborts its request
      await view.isOver()
    })
    yield* Effect.promise(() => seen)
  }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Error"))

export const tryChatPage = (chromium: string, report: Report): Promise<void> =>
  withBrowser(chromium, report, async (browser) => {
    for (const [name, scene] of Object.entries(scenes)) {
      const what = `react, ${name}`
      await Effect.runPromise(playing(browser, report, scene(), what)).catch((error: unknown) =>
        report.check(what, false, String(error))
      )
    }
  })
