/** A page on a narrow screen, and on paper. */
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"
import { boxOf, drawn } from "./drawn.ts"

export const narrow = (visit: Browser, report: Report, url: string): Promise<void> =>
  visit({ what: "a narrow page", url, width: 400 }, async (page) => {
    await drawn(page)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    report.check("a narrow page is not wider than its screen", wide <= 0, String(wide))
    const columns = await page
      .getByRole("columnheader")
      .evaluateAll((headers) => headers.map((one) => one.getBoundingClientRect().width))
    report.check(
      "on it, each column of the table has room",
      columns.length === 6 && columns.every((one) => one > 60),
      columns.join()
    )
    await page.emulateMedia({ media: "print" })
    await page.evaluate(() => void dispatchEvent(new Event("beforeprint")))
    const timeline = page.locator(".figure svg")
    const viewBox = (await timeline.getAttribute("viewBox")) ?? ""
    const [, , width = 0, height = 0] = viewBox.split(" ").map(Number)
    const box = await boxOf(timeline)
    const legend = await boxOf(page.locator(".legend"))
    const bent = box.height / box.width - height / width
    report.check(
      "printed from it, the timeline is drawn for paper and covers nothing",
      width > 600 && Math.abs(bent) < 0.01 && box.y + box.height <= legend.y + 1,
      [width, bent, box.y + box.height, legend.y].join()
    )
    await page.evaluate(() => void dispatchEvent(new Event("afterprint")))
    await page.emulateMedia({ media: null })
    const restored = (await timeline.getAttribute("viewBox")) ?? ""
    report.check("and as before on the screen then", restored !== "" && !restored.startsWith(`0 0 ${width} `), restored)
  })
