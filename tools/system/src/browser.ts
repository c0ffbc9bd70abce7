/** Headless Chromium, driven by Playwright: it visits pages, and notes what goes wrong in them. */
import type { Page } from "playwright-core"
import type { Report } from "../../../scripts/report.ts"
import { temporaryFolder } from "./ending.ts"

export interface Visit {
  /** What is visited, for the check that nothing goes wrong in it. */
  readonly what: string
  readonly url: string
  readonly scheme?: "light" | "dark"
  readonly width?: number
  /** The faults that belong to what is checked: each fault has to be one of them, and there has to be one. */
  readonly expected?: RegExp
  /** Faults that may be there or not, and mean nothing. */
  readonly harmless?: RegExp
}

/** Opens an address in a tab of its own, until `use` is done with it. */
export type Browser = (visit: Visit, use: (page: Page) => Promise<void>) => Promise<void>

/** How long Playwright waits for what has to come. */
const LIMIT = 60_000

/** Every message of the console (what a policy blocks is one), exception, dialog and request without an answer. */
const faultsOf = (page: Page): ReadonlyArray<string> => {
  const faults: Array<string> = []
  page.on("console", (message) => faults.push(`${message.type()}: ${message.text()}`))
  page.on("pageerror", (error) => faults.push(String(error)))
  page.on("requestfailed", (request) => faults.push(`${request.url()}: ${request.failure()?.errorText}`))
  page.on("dialog", async (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  return faults
}

/** Starts Chromium, which asks no other host than this one; it is gone when `use` is done. */
export const withBrowser = async (
  executablePath: string,
  report: Report,
  use: (browser: Browser) => Promise<void>
): Promise<void> => {
  // a plain installation leaves it out
  const { chromium } = await import("playwright-core")
  using own = temporaryFolder("chromium")
  await using browser = await chromium.launch({
    executablePath,
    args: ["--disable-gpu", "--font-render-hinting=none", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
    // when it is killed, it leaves files there
    env: { ...process.env, TMPDIR: own.path }
  })
  // where the browser ends while a page is made, Playwright waits for it for ever
  const ended = new Promise<never>((_, reject) =>
    browser.once("disconnected", () => reject(new Error("Chromium has ended")))
  )
  ended.catch(() => {})
  await use(async ({ expected, harmless, scheme = "light", url, what, width = 1280 }, use) => {
    const made = browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme })
    await using page = await Promise.race([made, ended])
    page.setDefaultTimeout(LIMIT)
    const all = faultsOf(page)
    await page.goto(url)
    await use(page)
    const faults = all.filter((fault) => harmless?.test(fault) !== true)
    const isWell =
      expected === undefined ? faults.length === 0 : faults.length > 0 && faults.every((fault) => expected.test(fault))
    const wrong = expected === undefined ? "nothing goes wrong in it" : `only ${expected} goes wrong in it`
    report.check(`${what}: ${wrong}`, isWell, faults.join("; "))
  })
}
