/**
 * `kintsugi serve` in headless Chromium: a first run that is broken and heals, a decision with edited arguments, words and a stop, a run from
 * a turn, a replay against an edited table, a comparison, the palette, no start, foreign requests, and what axe finds in both themes.
 */
import * as core from "@kintsugi/core"
import { Agent, Tool } from "@kintsugi/core"
import { Effect, Schema, Scope } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import type { Report } from "../../../scripts/report.ts"
import { hostile } from "../../../test/view/_support/hostile.ts"
import { auditor, bankOnLedger, desk, mended, refunds } from "../../../test/view/serve/_support/desk.ts"
import type { Found } from "../../../packages/view/src/serve/Finding.ts"
import { Playground } from "../../../packages/view/src/serve/Playground.ts"
import * as Server from "../../../packages/view/src/serve/Server.ts"
import { temporaryFolder } from "./ending.ts"
import { type Browser, withBrowser } from "./browser.ts"
import { accessible } from "./report/accessible.ts"

/** What the module holds; a test may change it. */
interface Module {
  found: Pick<Found, "agent" | "layer">
}

/** A playground that is served while `use` is at work. */
const serving = async (
  module: Module,
  use: (url: string, playground: Playground, folder: string) => Promise<void>
): Promise<void> => {
  using folder = temporaryFolder("serve")
  const program = Effect.gen(function* () {
    const load = Effect.sync(() => ({ name: "agent", file: "agent.ts", core, ...module.found }))
    const playground = new Playground(
      { load, folder: folder.path, hasKey: false, say: () => Effect.void },
      yield* Scope.Scope
    )
    yield* playground.reload
    const { url } = yield* Server.serve(playground, { port: 0 })
    yield* Effect.promise(() => use(url, playground, folder.path))
  })
  await Effect.runPromise(Effect.scoped(program))
}

const statusOf = (page: Page) => page.locator(".head")

const firstRun = (visit: Browser, report: Report): Promise<void> =>
  serving({ found: { agent: desk } }, (url, _, folder) =>
    visit({ what: "the first run", url }, async (page) => {
      const chips = await page.locator('[data-tool="lookUp"] .is-missing').allInnerTexts()
      report.check(
        "an error without a row is a red chip before anything runs",
        chips.includes("no row: Locked"),
        chips.join()
      )
      const model = await page.locator("#model").inputValue()
      report.check("the stand-in is chosen without a key", model === "stand-in", model)
      const begun = performance.now()
      await page.getByRole("button", { name: "Run it, broken" }).click()
      await statusOf(page).getByText("COMPLETED").waitFor()
      const took = performance.now() - begun
      const head = await statusOf(page).innerText()
      report.check("a first run, broken, heals two failures", head.includes("◆ 2 healed"), head)
      report.check("and shows that within a minute", took < 60_000, `${took} ms`)
      const frame = page.frameLocator("iframe.report")
      await frame.getByRole("heading", { level: 1 }).waitFor()
      const listed = await page.locator("[data-run]").innerText()
      report.check("the run is listed with its gold", listed.includes("◆ 2"), listed)
      await page.getByRole("button", { name: "Run again" }).click()
      await page.locator("[data-run]").nth(1).waitFor()
      await statusOf(page).getByText("COMPLETED").waitFor()
      const ignored = readFileSync(join(folder, ".gitignore"), "utf8").split("\n")
      report.check("the runs are in a folder that git ignores", ignored.includes("*"), ignored.join())
      await compared(page, report)
      const title = await page.title()
      report.check("the title of the tab says how the run ended", title.includes("COMPLETED"), title)
    })
  )

/** Opens the comparison of the shown run with the one before it. */
const compared = async (page: Page, report: Report): Promise<void> => {
  const opened = page.waitForEvent("popup")
  await page.getByRole("link", { name: "Compare with the run before" }).click()
  const tab = await opened
  await tab.getByText("Both runs", { exact: true }).waitFor()
  const steps = await tab.getByRole("heading", { name: "Steps" }).count()
  report.check("a run is compared with the run before it", steps === 1, String(steps))
  await accessible(tab, report, "the comparison of two runs")
  await tab.close()
}

/** Widths of a large screen and of a phone, in pixels. */
const widths = [1440, 390]

/** What axe finds in the page, before a run, after it, and in its palette. */
const usable = async (visit: Browser, report: Report): Promise<void> => {
  for (const scheme of ["light", "dark"] as const)
    for (const width of widths)
      await serving({ found: { agent: desk } }, async (url) => {
        const what = `serve, ${scheme}, ${width} px`
        await visit({ what, url, scheme, width }, async (page) => {
          await page.getByRole("button", { name: "Run it, broken" }).waitFor()
          await accessible(page, report, `${what}, before a run`)
          await page.keyboard.press("Control+k")
          const box = page.getByRole("combobox", { name: "Acts" })
          await box.fill("run it")
          await accessible(page, report, `${what}, with its palette`)
          await box.press("Enter")
          await statusOf(page).getByText("COMPLETED").waitFor()
          await page.frameLocator("iframe.report").getByRole("heading", { level: 1 }).waitFor()
          await accessible(page, report, `${what}, after a run that its palette began`)
          const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
          report.check(`${what}: nothing leaves the screen`, wide === room, `${wide} of ${room} px`)
        })
      })
}

/** A run that fails, its replay against an edited table, and a run from its last turn with another prompt. */
const repeated = (visit: Browser, report: Report): Promise<void> => {
  const module: Module = { found: { agent: desk } }
  return serving(module, (url, playground) =>
    visit({ what: "a replay", url }, async (page) => {
      for (const box of await page.locator("[data-fault]").all()) await box.setChecked(false)
      await page.locator('[data-fault="tool lookUp Locked"]').check()
      await page.getByRole("button", { name: /^Run it/ }).click()
      await statusOf(page).getByText("FAILED").waitFor()
      await page.getByRole("button", { name: "Replay the last failures" }).click()
      await page.getByText("0 → 0 of 1 healed").waitFor()
      module.found = { agent: mended }
      await Effect.runPromise(playground.reload)
      await page.getByText("The file was loaded again.").waitFor()
      await page.getByRole("button", { name: "Replay the last failures" }).click()
      await page.getByText("0 → 1 of 1 healed").waitFor()
      report.check("an edited table heals recorded failures without a model", true, "")
      await page.getByText("Run from a turn").click()
      await page.getByRole("textbox", { name: "Prompt" }).fill("You are a pirate.")
      await page.getByRole("button", { name: "Run from here" }).click()
      await statusOf(page).getByText("COMPLETED").waitFor()
      const [run] = playground.state().runs
      const first = JSON.parse(playground.lines(run?.id ?? "")?.[0] ?? "{}")
      const prompt = String(first.transcript?.[0]?.text)
      report.check("a run goes on from a turn with another prompt", prompt === "You are a pirate.", prompt)
      report.check("and with the table of now", run?.of?.turn === 1 && run.status === "completed", JSON.stringify(run))
    })
  )
}

/** Requests that are not from the page: without the token, and from the page of another site that knows it. */
const guarded = (visit: Browser, report: Report): Promise<void> =>
  serving({ found: { agent: desk } }, async (url) => {
    const [bare = ""] = url.split("?")
    await visit({ what: "no token", url: bare, expected: /401/ }, async (page) => {
      const text = await page.locator("body").innerText()
      report.check("the address without its token shows nothing", text.includes("it has a token"), text)
    })
    await serving({ found: { agent: desk } }, (other) =>
      visit(
        { what: "the page of another origin", url: other, expected: /Content Security|connect-src|Fetch API/ },
        async (page) => {
          await page.locator("#run").waitFor()
          const answer = await page.evaluate(
            (url) =>
              fetch(url, { mode: "no-cors" }).then(
                ({ type }) => type,
                () => "refused"
              ),
            url
          )
          report.check("the policy of the page lets it ask no other origin", answer === "refused", answer)
        }
      )
    )
    const statuses = await Promise.all(
      [{ origin: "http://evil.example" }, { "sec-fetch-site": "cross-site" }].map(
        async (headers) => (await fetch(url, { headers })).status
      )
    )
    report.check("pages of other sites are refused, with the token too", statuses.join() === "403,403", statuses.join())
  })

const approved = async (visit: Browser, report: Report): Promise<void> => {
  const { made, tool } = refunds()
  await serving({ found: { agent: Agent.make("desk", { tools: [tool] }) } }, (url) =>
    visit({ what: "an approval", url }, async (page) => {
      await page.locator("#tools").selectOption("run")
      await page.getByRole("button", { name: /^Run it/ }).click()
      const card = page.getByRole("region", { name: "Approve refund?" })
      await card.waitFor()
      await statusOf(page).getByText("WAITS FOR YOU").waitFor()
      report.check(
        "the title of the tab says that the run waits",
        (await page.title()).includes("waits for you"),
        await page.title()
      )
      const box = card.getByRole("textbox", { name: "Arguments" })
      await box.fill("{")
      await card.getByRole("button", { name: "Approve with these" }).click()
      await card.getByText("The arguments are no JSON.").waitFor()
      await box.fill('{"orderId":"B-4","cents":12}')
      await card.getByRole("button", { name: "Approve with these" }).click()
      await statusOf(page).getByText("COMPLETED").waitFor()
      const got = JSON.stringify(made)
      report.check("the tool runs with the edited arguments alone", got === '[{"orderId":"B-4","cents":12}]', got)
    })
  )
}

const stopped = (visit: Browser, report: Report): Promise<void> => {
  const waits = Tool.make("waits", {
    description: "Never ends.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.never
  })
  return serving({ found: { agent: Agent.make("waiter", { tools: [waits] }) } }, (url) =>
    visit({ what: "a stop", url }, async (page) => {
      await page.getByRole("button", { name: /^Run it/ }).click()
      await page.locator(".row.is-tool.is-open").waitFor()
      await page.getByRole("textbox", { name: "Say" }).fill("hurry")
      const heard = page.waitForResponse((response) => response.url().endsWith("/say"))
      await page.getByRole("button", { name: "Say" }).click()
      const status = (await heard).status()
      report.check("a run at work takes words", status === 200, String(status))
      await page.getByRole("button", { name: "Stop" }).click()
      await statusOf(page).getByText("STOPPED").waitFor()
      report.check("a run at work is stopped", true, "")
    })
  )
}

const stuck = (visit: Browser, report: Report): Promise<void> => {
  const module: Module = { found: { agent: auditor, layer: bankOnLedger } }
  return serving(module, (url, playground) =>
    visit({ what: "no start", url }, async (page) => {
      const problem = await page.getByRole("alert").first().innerText()
      report.check("it names the service that is missing", problem.includes("desk/Ledger"), problem)
      report.check("and what to paste", problem.includes("Layer.succeed(Ledger"), problem)
      module.found = { agent: desk }
      await Effect.runPromise(playground.reload)
      await page.getByRole("heading", { name: "desk", exact: true }).waitFor()
      report.check("and shows the agent once the file is mended", true, "")
    })
  )
}

const harmless = async (visit: Browser, report: Report): Promise<void> => {
  for (const [at, text] of hostile.entries()) {
    const say = Tool.make("say", {
      description: text,
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.succeed(text)
    })
    await serving({ found: { agent: Agent.make("teller", { prompt: text, tools: [say] }) } }, (url) =>
      visit({ what: `hostile text ${at + 1} in serve`, url }, async (page) => {
        await page.getByRole("textbox", { name: "Input" }).fill(text)
        await page.getByRole("button", { name: /^Run it/ }).click()
        await statusOf(page).getByText("COMPLETED").waitFor()
        const foreign = await page.locator("main img, main script, main svg, main style").count()
        report.check(`hostile text ${at + 1} is text in the page of serve`, foreign === 0, String(foreign))
      })
    )
  }
}

/** Chromium calls a stream aborted if the page has read its end before the browser has noticed it. */
const ended = /\/(?:events|changes)[^ ]*: net::ERR_ABORTED$/

/** All of it, with a Chromium that is there. */
export const serve = (chromium: string, report: Report): Promise<void> =>
  withBrowser(chromium, report, async (given) => {
    const visit: Browser = (one, use) => given({ ...one, harmless: ended }, use)
    await firstRun(visit, report)
    await usable(visit, report)
    await repeated(visit, report)
    await guarded(visit, report)
    await approved(visit, report)
    await stopped(visit, report)
    await stuck(visit, report)
    await harmless(visit, report)
  })
