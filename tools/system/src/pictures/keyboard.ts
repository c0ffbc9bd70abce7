/** A page by keys alone. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import { drawn, redrawn } from "./drawn.ts"

/** What is looked at while keys are pressed. */
const partsOf = (page: Page) => {
  const timeline = page.getByRole("application", { name: "Timeline" })
  const entries = page.locator(".entry")
  return {
    timeline,
    entries,
    said: () => page.locator(".timeline").getByRole("status").innerText(),
    title: () => page.locator("#details-title").innerText(),
    chosen: async () => (await page.locator(".entry.is-selected .heading").allInnerTexts()).join(),
    times: async () => (await page.locator(".figure svg .k-small").allTextContents()).join(),
    isRinged: () => page.locator(".ring").isVisible(),
    hasFocus: async (selector: string) => (await page.locator(`${selector}:focus`).count()) === 1
  }
}

type Check = (what: string, isRight: boolean, said?: string) => void

export const keyboard = async (page: Page, report: Report): Promise<void> => {
  await drawn(page)
  const check: Check = (what, isRight, said) => report.check(`by keys: ${what}`, isRight, said)
  await inTimeline(page, check)
  await besideIt(page, check)
  report.check("it can be printed", (await page.pdf()).length > 7500)
  const [complaint, blocked] = await Promise.all([
    page.waitForEvent("console", (message) => message.text().includes("Content Security Policy")),
    page.evaluate(() =>
      fetch("http://127.0.0.1:9/").then(
        () => "sent",
        () => "blocked"
      )
    )
  ])
  report.check("nothing can be sent from it", blocked === "blocked" && complaint.type() === "error", blocked)
}

const inTimeline = async (page: Page, check: Check): Promise<void> => {
  const { chosen, hasFocus, isRinged, said, times, title } = partsOf(page)
  const press = (key: string) => page.keyboard.press(key)
  let tabs = 0
  while (tabs < 12 && !(await hasFocus(".figure"))) {
    await press("Tab")
    tabs++
  }
  check("Tab leads to the timeline", tabs > 0 && tabs < 12, String(tabs))
  await press("ArrowRight")
  const first = await said()
  check("the first arrow chooses the run", first.startsWith("json-analyst. run of json-analyst, went well"), first)
  await press("ArrowDown")
  await press("ArrowDown")
  const lower = await said()
  check("arrow down goes to the lane below", lower.startsWith("stand-in. model of json-analyst"), lower)
  await press("ArrowRight")
  await press("ArrowRight")
  const verdict = await said()
  check("arrow right goes on in the lane, to the verdict", /→ retry|failed/.test(verdict), verdict)
  check("the ring is around it", await isRinged())
  const about = await title()
  check("the details are about it", about !== "" && verdict.startsWith(about), about)
  check("the transcript keeps step", (await chosen()) !== "")
  const isShown = await page.evaluate(() => {
    const [box, own] = [".transcript .scroller", ".entry.is-selected"].map((selector) =>
      document.querySelector(selector)?.getBoundingClientRect()
    )
    return box !== undefined && own !== undefined && own.bottom > box.top && own.top < box.bottom
  })
  check("and shows it", isShown)
  await press("Enter")
  check("Enter goes to the details", await hasFocus(".details"))
  await press("Escape")
  check("Escape comes back", await hasFocus(".figure"))
  const before = await times()
  await press("+")
  await redrawn(page)
  const zoomed = await times()
  check("plus zooms in", zoomed !== before, zoomed)
  await press("0")
  await redrawn(page)
  const all = await times()
  check("0 shows all again", all === before, all)
  await press("Escape")
  await redrawn(page)
  check("Escape leaves what was chosen", !(await isRinged()) && (await chosen()) === "", await chosen())
}

/** The transcript, the table and the theme, from the timeline on. */
const besideIt = async (page: Page, check: Check): Promise<void> => {
  const { entries, hasFocus, isRinged, timeline, title } = partsOf(page)
  const press = (key: string) => page.keyboard.press(key)
  await timeline.focus()
  for (let tabs = 0; tabs < 3 && !(await hasFocus(".skip")); tabs++) await press("Tab")
  await press("Enter")
  check("the table is a few steps from the timeline", await hasFocus("tr"))
  await entries.nth(4).getByRole("button").first().press("Enter")
  const isChosen = await entries.nth(4).evaluate((entry) => entry.classList.contains("is-selected"))
  check("Enter in the transcript chooses there", isChosen)
  check("and in the timeline", await isRinged())
  await page.locator('tbody tr[tabindex="0"]').press("Home")
  await press("ArrowDown")
  const row = await page.locator("tr:focus").getAttribute("aria-rowindex")
  check("the table goes row by row", row === "3", String(row))
  await press("Enter")
  const said = [await title(), await page.locator("tr.is-selected > :nth-child(5)").innerText()]
  check("and chooses", said[0] === said[1], said.join())
  await page.getByRole("button", { name: "Light or dark" }).press("Enter")
  const theme = await page.locator("html").getAttribute("data-theme")
  check("the theme can be chosen", theme === "dark", String(theme))
}
