/** Whether words can be read on what is behind them. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"

/** Words whose contrast is below 4.5:1, with the contrast. */
const faint = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })
    if (context === null) throw new Error("there is no canvas")
    /** The colour that is seen where colours lie over each other, the lowest first. */
    const seen = (colours: ReadonlyArray<string>): Iterable<number> => {
      context.clearRect(0, 0, 1, 1)
      for (const colour of colours) {
        context.fillStyle = colour
        context.fillRect(0, 0, 1, 1)
      }
      return context.getImageData(0, 0, 1, 1).data
    }
    const brightness = (colour: Iterable<number>): number => {
      const [red = 0, green = 0, blue = 0] = [...colour].map((byte) =>
        byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4
      )
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const behind = (element: Element): ReadonlyArray<string> => [
      ...(element.parentElement === null ? ["white"] : behind(element.parentElement)),
      getComputedStyle(element).backgroundColor
    ]
    const found = new Map<string, string>()
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = words.nextNode(); node !== null; node = words.nextNode()) {
      const element = node.parentElement
      const text = node.textContent?.trim() ?? ""
      if (
        text === "" ||
        element === null ||
        !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      )
        continue
      const papers = behind(element)
      const { color } = getComputedStyle(element)
      const [dark = 0, light = 0] = [brightness(seen(papers)), brightness(seen([...papers, color]))].toSorted(
        (one, other) => one - other
      )
      const contrast = (light + 0.05) / (dark + 0.05)
      if (contrast < 4.5)
        found.set(`${color} on ${papers.at(-1)}`, `“${text.slice(0, 30)}” ${contrast.toFixed(2)} (${color})`)
    }
    return [...found.values()]
  })

export const contrast = async (visit: Browser, report: Report, url: string): Promise<void> => {
  for (const scheme of ["light", "dark"] as const)
    for (const path of ["/", "/guide/recovery", "/api/core/Approval"])
      await visit({ what: `${path}, ${scheme}`, url: url + path, scheme, width: 1440 }, async (page) => {
        const all = await faint(page)
        report.check(`all words of ${path} stand out, ${scheme}`, all.length === 0, all.join(", "))
      })
}
