/** The comparison of two runs: as a view of a report that has both, and as a page of its own. */
import { Comparison, ComparisonPage, Page as ReportPage, Recording } from "@kintsugi/view"
import type { Page } from "playwright-core"
import { mid } from "../../../../test/view/_support/recorded.ts"
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"
import { drawn, redrawn } from "../pictures/drawn.ts"
import { accessible } from "./accessible.ts"

/** A run that failed, and a day later one that completed, in one recording. */
const both = (): Recording.Recording =>
  Recording.fromEvents([
    ...mid("mid-fail").events,
    ...mid("mid-ok").events.map((event) => ({ ...event, at: event.at + 86_400_000 }))
  ])

export const compared = async (
  visit: Browser,
  report: Report,
  writePage: (name: string, html: string) => string
): Promise<void> => {
  const whole = writePage("both", ReportPage.make(both()))
  const made = Comparison.make(mid("mid-fail"), mid("mid-ok"))
  const still = writePage("compared", ComparisonPage.make(made, { first: "mid-fail", second: "mid-ok" }))
  for (const scheme of ["light", "dark"] as const)
    for (const width of [1440, 1024, 390]) {
      const view = `a comparison in a report, ${scheme}, ${width} px`
      await visit({ what: view, url: `${whole}#v=comparison`, scheme, width }, async (page) => {
        await drawn(page)
        await page.locator(".comparison .lead", { hasText: "First difference" }).waitFor()
        const row = page.locator(".comparison tr.is-selected")
        const text = await row.innerText()
        report.check(`${view}: the first difference is selected`, text.startsWith("≠"), text)
        const isCovered = width === 390 && (await page.locator(".inspector").isVisible())
        report.check(`${view}: nothing covers it`, !isCovered)
        await fits(page, report, view, width)
        await accessible(page, report, view)
      })
      const what = `a comparison, ${scheme}, ${width} px`
      await visit({ what, url: still, scheme, width }, async (page) => {
        const lead = await page.locator(".divergence").innerText()
        report.check(`${what}: it names the first difference`, lead.startsWith("First difference: turn"), lead)
        await fits(page, report, what, width)
        await accessible(page, report, what)
      })
    }
  await visit({ what: "a comparison by keys", url: whole, width: 1440 }, (page) => chosen(page, report))
}

const fits = async (page: Page, report: Report, what: string, width: number): Promise<void> => {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  report.check(`${what}: the page is not wider than its screen`, wide <= width, `${wide} px`)
}

const chosen = async (page: Page, report: Report): Promise<void> => {
  const check = (what: string, isRight: boolean, said?: string) => report.check(`a comparison: ${what}`, isRight, said)
  await drawn(page)
  await page.keyboard.press("4")
  await redrawn(page)
  const selects = page.locator(".choice select")
  const [first, second] = [await selects.nth(0).inputValue(), await selects.nth(1).inputValue()]
  check("it begins with the failed run and one that completed", first !== second, `${first} ${second}`)
  const lead = await page.locator(".comparison .lead").innerText()
  check("it names the first difference", /^First difference: turn \d+/.test(lead), lead)
  const row = page.locator(".comparison tr.is-selected")
  const isFirst = await row.evaluate(
    (one) => [...document.querySelectorAll(".comparison tr:is(.first,.second,.changed)")][0] === one
  )
  check("the first difference is selected, and seen", isFirst && (await row.isVisible()), await row.innerText())
  const turn = /turn (\d+)/.exec(lead)?.[1] ?? ""
  const about = await page.locator(".inspector").innerText()
  check("the inspector shows it", about.includes(`turn ${turn}`), about)
  await page.locator(".comparison tr.same .heading").last().click()
  check("another step can be selected", (await page.locator(".comparison tr.is-selected.same").count()) === 1)
  await selects.nth(1).selectOption({ index: 0 })
  const same = await page.locator(".comparison .lead").innerText()
  check("a run is the same as itself", same.startsWith("Both runs took the same steps"), same)
  await page.keyboard.press("1")
}
