/** A hundred thousand events in a page: that it stays fluent, and what that takes. */
import type { Report } from "../../../../scripts/report.ts"
import type { Tab } from "../tab.ts"

/** Milliseconds until what a key does has been drawn. */
const redraw = (key: string): string =>
  `new Promise((resolve) => { const begun = performance.now(); document.querySelector(".figure").dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(key)}, bubbles: true })); requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun))) })`

export const large = async (tab: Tab, report: Report): Promise<void> => {
  const [painted = Infinity, ready = Infinity] = await tab.evaluate<Array<number>>(
    "[performance.getEntriesByType('paint')[0]?.startTime, performance.now()]"
  )
  const drawing = await tab.evaluate<string>("document.querySelector('.figure').dataset.drawing")
  report.check("100,000 events are drawn on a canvas", drawing === "canvas", drawing)
  const times: Array<number> = []
  for (const key of ["+", "+", "ArrowRight", "-", "ArrowDown", "ArrowRight", "+", "+", "0"])
    times.push(await tab.evaluate<number>(redraw(key)))
  const middle = times.toSorted((one, other) => one - other)[times.length >> 1] ?? Infinity
  const figures = `first picture after ${painted.toFixed(0)} ms, ready after ${ready.toFixed(0)} ms, redraws ${times.map((time) => time.toFixed(0)).join(", ")} ms`
  console.log(`   100,000 events: ${figures}`)
  // far from what it takes on a quiet machine: it would be missed by anything quadratic
  report.check(
    "100,000 events are there soon, and follow the keys",
    painted < 5000 && ready < 30_000 && middle < 500,
    figures
  )
  const counts = await tab.evaluate<string>(
    "JSON.stringify([document.querySelectorAll('tbody tr').length, document.querySelectorAll('.entry').length, Number(document.querySelector('table').getAttribute('aria-rowcount')), Number(document.querySelector('.figure').dataset.drawn)])"
  )
  const [rows = Infinity, entries = Infinity, all = 0, drawn = Infinity]: Array<number> = JSON.parse(counts)
  report.check(
    "of them, the page has as many rows, entries and boxes as are seen",
    rows < 100 && entries < 400 && all > 100_000 && drawn < 20_000,
    counts
  )
  await tab.evaluate("document.querySelector('.table .scroller').scrollTop = 1e6")
  await tab.until("Number(document.querySelector('tbody tr[data-place]').dataset.place) > 30000")
  report.check("the table can be scrolled to any of them", true)
  report.check("100,000 events: no error in the console", tab.faults.length === 0, tab.faults.join())
}
