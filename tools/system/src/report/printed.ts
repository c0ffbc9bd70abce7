/** A failed run on paper: the first page says what the first screen says. */
import type { Page } from "playwright-core"
import { Page as ReportPage, Recording } from "@kintsugi/view"
import { long } from "../../../../test/view/_support/references.ts"
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"
import { drawn } from "../pictures/drawn.ts"
import { accessible } from "./accessible.ts"

/** The height of a page of A4 without its margins, in pixels. */
const paper = 1010

export const printed = async (page: Page, report: Report): Promise<void> => {
  await drawn(page)
  // A4 without its margins of 14 mm
  await page.setViewportSize({ width: 688, height: paper })
  await page.emulateMedia({ media: "print" })
  await page.evaluate(() => void dispatchEvent(new Event("beforeprint")))
  const check = (what: string, isRight: boolean, said?: string) => report.check(`on paper: ${what}`, isRight, said)
  const endOf = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().bottom + scrollY))
  const [error = Infinity] = await endOf(".why h2")
  const [sums = Infinity] = await endOf(".sums")
  const rows = await endOf(".outline .rows [role=row]")
  check(
    "the error, the sums and the tree are on page 1",
    error < 200 && sums < 400 && Math.max(...rows) < paper,
    [error, sums, ...rows.slice(-1)].join()
  )
  const clock = await page.locator(".clock").innerText()
  check(
    "with the time of the clock",
    clock === "21 Nov 2026 22:39:00 → 22 Nov 2026 01:40:00 UTC" || /^\d+ \w+ \d{4} \d\d:\d\d:\d\d → .*UTC$/.test(clock),
    clock
  )
  const failures = await page.locator(".printed .entry").count()
  const entries = await page.locator(".entry").filter({ visible: true }).count()
  check("of the conversation, the failed parts follow", failures > 3 && entries === failures, `${failures} ${entries}`)
  const tools = await page.locator(".toolbar, .minimap, .inspector, .acts").filter({ visible: true }).count()
  check("and nothing to press", tools === 0, String(tools))
  const bars = await page
    .locator(".strip .bar")
    .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width))
  check(
    "no bar is narrower than 2 px",
    bars.length > 30 && Math.min(...bars) >= 2,
    `${bars.length} ${Math.min(...bars)}`
  )
  await accessible(page, report, "on paper")
  const pdf = await page.pdf()
  const pages = [...pdf.toString("latin1").matchAll(/\/Type\s*\/Page\b(?!s)/g)].length
  check("it has two pages at most", pages >= 1 && pages <= 2, String(pages))
  await page.evaluate(() => void dispatchEvent(new Event("afterprint")))
  check("on the screen all is as before then", (await page.locator(".printed").count()) === 0)
}

/** A long run, and six lines that are none of its events. */
const broken = (): Recording.Recording => {
  const lines = long(60_000).events.map((event) => JSON.stringify(event))
  return Recording.fromLines([...Array.from({ length: 6 }, () => "{"), ...lines])
}

/** Long pages on paper: what is left out is said, and nothing stays folded. */
export const printedLong = (
  visit: Browser,
  report: Report,
  writePage: (name: string, html: string) => string
): Promise<void> =>
  visit({ what: "a long page on paper", url: writePage("paper", ReportPage.make(broken())) }, async (page) => {
    await drawn(page)
    const isUnfolded = () => page.locator(".problems").evaluate((problems: HTMLDetailsElement) => problems.open)
    const before = await isUnfolded()
    await page.evaluate(() => void dispatchEvent(new Event("beforeprint")))
    const last = await page.locator(".printed > :last-child").innerText()
    report.check("on paper, many failures are counted", /^[\d,]+ later failures not printed/.test(last), last)
    report.check("on paper, problems are not folded", (await isUnfolded()) && !before)
    const rows = await page.locator(".outline .rows [role=row]").count()
    report.check("on paper, all rows of a long outline are there, up to a limit", rows === 1500, String(rows))
    await page.evaluate(() => void dispatchEvent(new Event("afterprint")))
    const after = await page.locator(".outline .rows [role=row]").count()
    report.check("on the screen all is as before then", after < 150 && !(await isUnfolded()), String(after))
  })
