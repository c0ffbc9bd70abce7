/** A drawing beside its reference. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { root } from "../../../../scripts/files.ts"
import type { Report } from "../../../../scripts/report.ts"
import { boxOf, redrawn } from "./drawn.ts"

const folder = join(root, "tools/system/pictures")

/** The bars of the outline as a PNG, without the axis and the names beside them. */
const drawing = async (page: Page): Promise<Buffer> => {
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync("svg text { fill: transparent !important } .outline { color: transparent !important }")
    document.adoptedStyleSheets = [sheet]
  })
  await redrawn(page)
  const axis = await boxOf(page.locator(".outline .head .bars"))
  const { height, y } = await boxOf(page.locator(".outline"))
  return page.screenshot({ clip: { x: axis.x, y: y + axis.height, width: axis.width, height: height - axis.height } })
}

/** How much of two pictures differs, from 0 to 1; 1 where their sizes do. */
const difference = (page: Page, one: Buffer, other: Buffer): Promise<number> =>
  page.evaluate(
    async (pictures) => {
      const read = async (data: string) => {
        const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0))
        const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }))
        const context = new OffscreenCanvas(image.width, image.height).getContext("2d")
        if (context === null) throw new Error("there is no canvas")
        context.drawImage(image, 0, 0)
        return context.getImageData(0, 0, image.width, image.height)
      }
      const [a, b] = [await read(pictures[0]), await read(pictures[1])]
      if (a.width !== b.width || Math.abs(a.height - b.height) > 2) return 1
      const size = Math.min(a.data.length, b.data.length)
      let differing = 0
      for (let at = 0; at < size; at += 4)
        if ([at, at + 1, at + 2].some((byte) => Math.abs((a.data[byte] ?? 0) - (b.data[byte] ?? 0)) > 40)) differing++
      return differing / (size / 4)
    },
    [one.toString("base64"), other.toString("base64")] as const
  )

export const picture = async (page: Page, report: Report, name: string, isWritten: boolean): Promise<void> => {
  const path = join(folder, `${name}.png`)
  const data = await drawing(page)
  if (isWritten) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(path, data)
  }
  if (!existsSync(path)) return report.check(`the picture of ${name} has a reference`, false, path)
  const share = await difference(page, readFileSync(path), data)
  report.check(`the picture of ${name} is the reference`, share < 0.005, `${(100 * share).toFixed(2)}% of it differs`)
}
