/** Every page of the site on every width of a screen. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"
import { boxOf } from "../pictures/drawn.ts"

const screens = [390, 768, 1024, 1440, 1719, 1720]

/**
 * What of some pages scrolls sideways. Each page is loaded once, without its scripts, into a frame of which only the width changes: a media
 * query of a page in a frame asks for the width of the frame.
 */
const wider = (page: Page, paths: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
  page.evaluate(
    async ({ paths, screens }) => {
      const frame = document.createElement("iframe")
      frame.style.cssText = "position: fixed; border: 0; height: 900px"
      document.body.replaceChildren(frame)
      const found: Array<string> = []
      for (const path of paths) {
        const html = await (await fetch(path)).text()
        await new Promise((loaded) => {
          frame.addEventListener("load", loaded, { once: true })
          frame.srcdoc = html.replaceAll(/<script[^]*?<\/script>/g, "")
        })
        const shown = frame.contentDocument
        await shown?.fonts.ready
        for (const width of screens) {
          frame.style.width = `${width}px`
          const needed = shown?.documentElement.scrollWidth ?? Infinity
          if (needed > width || frame.contentWindow?.innerWidth !== width) found.push(`${path} at ${width}: ${needed}`)
        }
      }
      return found
    },
    { paths, screens }
  )

/** No page scrolls sideways. Two tabs share the pages, because each is a process of its own. */
export const widths = async (
  visit: Browser,
  report: Report,
  url: string,
  pages: ReadonlyArray<string>
): Promise<void> => {
  const found: Array<string> = []
  const look = (rest: number) =>
    visit({ what: `pages of the site, ${rest + 1} of 2`, url: `${url}/404` }, async (page) => {
      found.push(
        ...(await wider(
          page,
          pages.filter((_, index) => index % 2 === rest)
        ))
      )
    })
  await Promise.all([look(0), look(1)])
  const isRight = pages.length > 100 && found.length === 0
  report.check(`no page of ${pages.length} scrolls sideways from 390 to 1720 px`, isRight, found.join(", "))
}

/** The sidebar has room for its words, and the switch of the theme stays on the screen. */
export const sidebar = (visit: Browser, report: Report, url: string): Promise<void> =>
  visit({ what: "a page with a sidebar", url: `${url}/guide/see` }, async (page) => {
    for (const width of screens) {
      await page.setViewportSize({ width, height: 900 })
      const needed = await page.evaluate(() => document.documentElement.scrollWidth)
      report.check(`with its scripts, it fits on ${width} px`, needed <= width, String(needed))
      if (width < 1440) continue
      const sidebar = page.getByRole("complementary").filter({ has: page.getByText("Sidebar Navigation") })
      const [needs, has] = await sidebar.evaluate((one) => [one.scrollWidth, one.clientWidth] as const)
      report.check(`at ${width} px no word of its sidebar is cut`, needs <= has, `${needs} of ${has}`)
      const { width: own, x } = await boxOf(page.getByRole("switch"))
      report.check(`at ${width} px the switch of the theme is on the screen`, x + own <= width, String(x))
    }
  })
