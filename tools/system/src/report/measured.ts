/** A hundred thousand events: when the first picture is there, and how long a key takes. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import { drawn } from "../pictures/drawn.ts"

/** Milliseconds that may pass until the first picture, and until a key has been drawn in 95 of 100 cases. */
const limits = { picture: 1000, key: 50 }

/** Milliseconds from a key to the end of the task that draws it. */
const latency = (page: Page, key: string): Promise<number> =>
  page.evaluate(
    (key) =>
      new Promise<number>((resolve) => {
        const target = document.activeElement ?? document.body
        requestAnimationFrame(() => {
          const begun = performance.now()
          target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))
          requestAnimationFrame(() => {
            const channel = new MessageChannel()
            channel.port1.addEventListener("message", () => resolve(performance.now() - begun))
            channel.port1.start()
            channel.port2.postMessage(undefined)
          })
        })
      }),
    key
  )

export const measured = async (page: Page, report: Report): Promise<void> => {
  await drawn(page)
  const [painted = Infinity, ready] = await page.evaluate(
    () =>
      [
        performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
        Number(document.documentElement.dataset["ready"])
      ] as const
  )
  await page.keyboard.press("Home")
  const keys = [
    "n",
    "n",
    "p",
    "ArrowDown",
    "ArrowDown",
    "ArrowRight",
    "ArrowDown",
    "+",
    "+",
    "-",
    "z",
    "f",
    "0",
    "End",
    "Home"
  ]
  const times: Array<number> = []
  await page.locator(".outline [role=row][tabindex='0']").last().focus()
  for (let lap = 0; lap < 8; lap++) for (const key of keys) times.push(await latency(page, key))
  const sorted = times.toSorted((one, other) => one - other)
  const p95 = sorted[Math.ceil(0.95 * sorted.length) - 1] ?? Infinity
  const figures = `first picture after ${painted.toFixed(0)} ms, ready after ${ready.toFixed(0)} ms, ${times.length} keys: median ${sorted[sorted.length >> 1]?.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, longest ${sorted.at(-1)?.toFixed(0)} ms`
  console.log(`   100,000 events: ${figures}`)
  report.check(
    `100,000 events: the first picture is there within ${limits.picture} ms`,
    painted <= limits.picture,
    figures
  )
  report.check(`100,000 events: 95 of 100 keys are drawn within ${limits.key} ms`, p95 <= limits.key, figures)
  await conversed(page, report)
  const rows = await page.locator(".outline .rows [role=row]").count()
  const all = Number(await page.locator(".outline").getAttribute("aria-rowcount"))
  report.check("100,000 events: the page has as many rows as are seen", rows < 120 && all > 1000, `${rows} of ${all}`)
}

/** The conversation of so many events: the browser's own search finds its last words, and the entries on the screen are elements. */
const conversed = async (page: Page, report: Report): Promise<void> => {
  await page.locator(".conversation[data-filled]").waitFor({ state: "attached" })
  const last = page.locator(".chunk").last()
  const text = (await last.textContent()) ?? ""
  const made = await page.locator(".chunks *").count()
  report.check(
    "100,000 events: the whole conversation is in the page, most of it as text",
    text.length > 100 && made < 30_000,
    `${made} elements, at the end ${text.slice(-200)}`
  )
  await page.keyboard.press("2")
  await last.scrollIntoViewIfNeeded()
  await last.locator(".entry .heading").last().click()
  const selected = await page.locator(".entry.is-selected").count()
  report.check("100,000 events: what is on the screen can be selected", selected === 1, String(selected))
  await page.keyboard.press("1")
}
