/** A hundred thousand events in a page: that it stays fluent, and what that takes. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"

/** Milliseconds until what a key does has been drawn. */
const redraw = (page: Page, key: string): Promise<number> =>
  page.locator(".figure").evaluate(
    (figure, key) =>
      new Promise<number>((resolve) => {
        const begun = performance.now()
        figure.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)))
      }),
    key
  )

export const large = async (page: Page, report: Report): Promise<void> => {
  const [painted = Infinity, ready] = await page.evaluate(
    () => [performance.getEntriesByType("paint")[0]?.startTime, performance.now()] as const
  )
  const figure = page.locator(".figure")
  const drawing = await figure.getAttribute("data-drawing")
  report.check("100,000 events are drawn on a canvas", drawing === "canvas", String(drawing))
  const times: Array<number> = []
  for (const key of ["+", "+", "ArrowRight", "-", "ArrowDown", "ArrowRight", "+", "+", "0"])
    times.push(await redraw(page, key))
  const middle = times.toSorted((one, other) => one - other)[times.length >> 1] ?? Infinity
  const figures = `first picture after ${painted.toFixed(0)} ms, ready after ${ready.toFixed(0)} ms, redraws ${times.map((time) => time.toFixed(0)).join(", ")} ms`
  console.log(`   100,000 events: ${figures}`)
  // far from what it takes on a quiet machine: it would be missed by anything quadratic
  report.check(
    "100,000 events are there soon, and follow the keys",
    painted < 5000 && ready < 30_000 && middle < 500,
    figures
  )
  const table = page.getByRole("grid")
  const rows = await table.locator("tbody tr").count()
  const entries = await page.locator(".entry").count()
  const all = Number(await table.getAttribute("aria-rowcount"))
  const boxes = Number((await figure.getAttribute("data-drawn")) ?? NaN)
  report.check(
    "of them, the page has as many rows, entries and boxes as are seen",
    rows < 100 && entries < 400 && all > 100_000 && boxes < 20_000,
    [rows, entries, all, boxes].join()
  )
  await page.locator(".table .scroller").evaluate((scroller) => void (scroller.scrollTop = 1e6))
  await page.waitForFunction(
    () => Number(document.querySelector<HTMLElement>("tbody tr[data-position]")?.dataset["position"]) > 30_000
  )
  report.check("the table can be scrolled to any of them", true)
}
