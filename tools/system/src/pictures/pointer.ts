/** A page by its pointer: what it shows of what it is over, chooses and moves. */
import type { Report } from "../../../../scripts/report.ts"
import type { Tab } from "../tab.ts"

/** The middle of the n-th broken piece, in the window. */
const piece = (at: number): string =>
  `(() => { document.querySelector('.figure').scrollIntoView(); const { x, y, width, height } = document.querySelectorAll('.figure .k-pale')[${at}].getBoundingClientRect(); return [x + width / 3, y + height / 2] })()`

const ticks =
  "JSON.stringify([...document.querySelectorAll('.figure svg .k-axis')].map((one) => one.getAttribute('d')))"

const frame = (tab: Tab) =>
  tab.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")

export const pointer = async (tab: Tab, report: Report): Promise<void> => {
  const [x = 0, y = 0] = await tab.evaluate<Array<number>>(piece(0))
  await tab.pointer("mouseMoved", x, y)
  const tip = await tab.evaluate<string>(
    "(({ hidden, innerText }) => hidden ? '' : innerText)(document.querySelector('.tip'))"
  )
  report.check(
    "over a broken attempt, its error and how long it lasted are shown",
    /Error: [^]*Lasts: \d+ ms/.test(tip),
    tip
  )
  await tab.pointer("mousePressed", x, y)
  await tab.pointer("mouseReleased", x, y)
  await frame(tab)
  const ring = await tab.evaluate<boolean>(
    `(() => { const own = document.querySelector('.ring').getBoundingClientRect(); return own.left < ${x} && own.right > ${x} && own.top < ${y} && own.bottom > ${y} })()`
  )
  report.check("pressed, it is chosen, and the ring is around it", ring)
  await tab.evaluate(
    "[...document.querySelectorAll('.bar button')].find(({ textContent }) => textContent === '+').click()"
  )
  await frame(tab)
  const before = await tab.evaluate<string>(ticks)
  await tab.pointer("mousePressed", x, y)
  for (const by of [10, 40, 80]) await tab.pointer("mouseMoved", x - by, y)
  await tab.pointer("mouseReleased", x - 80, y)
  await frame(tab)
  const after = await tab.evaluate<string>(ticks)
  report.check("drawn aside, it shows what comes later", before !== after, after)
  const chosen = await tab.evaluate<string>("document.querySelector('#details-title').textContent")
  report.check("and what was chosen stays chosen", chosen !== "Details", chosen)
}
