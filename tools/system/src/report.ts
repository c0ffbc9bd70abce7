/**
 * Asks of the page of a failed run in headless Chromium what an engineer needs at night: the error in the first screen, one key to it, the
 * browser's own search, and no defect that axe finds. It also measures a hundred thousand events.
 *
 *   npm run test:system -- report
 */
import { Page } from "@kintsugi/view"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import * as TestFile from "../../../packages/view/src/replay/TestFile.ts"
import { mid } from "../../../test/view/_support/recorded.ts"
import { long, written } from "../../../test/view/_support/references.ts"
import type { Report } from "../../../scripts/report.ts"
import { withBrowser } from "./browser.ts"
import { temporaryFolder } from "./ending.ts"
import { drawn } from "./pictures/drawn.ts"
import { accessible } from "./report/accessible.ts"
import { byKeys } from "./report/byKeys.ts"
import { byPointer } from "./report/byPointer.ts"
import { compared } from "./report/compared.ts"
import { firstScreen } from "./report/firstScreen.ts"
import { linked } from "./report/linked.ts"
import { measured } from "./report/measured.ts"
import { printed, printedLong } from "./report/printed.ts"
import { sheet } from "./report/sheet.ts"

/** The widths of a large screen, of a small one and of a phone, in pixels. */
const widths = [1440, 1024, 390]

/** All of it, with a Chromium that is there. */
export const reportPage = async (chromium: string, report: Report): Promise<void> => {
  using folder = temporaryFolder("report")
  const writePage = (name: string, html: string): string => {
    const path = join(folder.path, `${name}.html`)
    writeFileSync(path, html)
    return pathToFileURL(path).href
  }
  const failed = writePage("failed", Page.make(mid("mid-fail"), TestFile.forPage(mid("mid-fail"))))
  const mended = writePage("mended", Page.make(written("mended")))
  await withBrowser(chromium, report, async (visit) => {
    for (const scheme of ["light", "dark"] as const)
      for (const width of widths) {
        const what = `a failed run, ${scheme}, ${width} px`
        await visit({ what, url: failed, scheme, width }, async (page) => {
          await drawn(page)
          await firstScreen(page, report, what, width)
          await accessible(page, report, what)
        })
        await visit(
          { what: `a run that completed, ${scheme}, ${width} px`, url: mended, scheme, width },
          async (page) => {
            await drawn(page)
            await accessible(page, report, `a run that completed, ${scheme}, ${width} px`)
          }
        )
      }
    await visit({ what: "a failed run by keys", url: failed, width: 1440 }, (page) => byKeys(page, report))
    await visit({ what: "a failed run by pointer", url: failed, width: 1440 }, (page) => byPointer(page, report))
    await visit({ what: "a failed run on a phone", url: failed, width: 390 }, (page) => sheet(page, report))
    await visit({ what: "a failed run on paper", url: failed, width: 794 }, (page) => printed(page, report))
    await printedLong(visit, report, writePage)
    await linked(visit, report, failed, writePage)
    await compared(visit, report, writePage)
  })
}

/** How fast the page of a long run is, on a machine that does nothing else. */
export const reportSpeed = async (chromium: string, report: Report): Promise<void> => {
  using folder = temporaryFolder("report")
  const path = join(folder.path, "large.html")
  writeFileSync(path, Page.make(long()))
  await withBrowser(chromium, report, (visit) =>
    visit({ what: "100,000 events", url: pathToFileURL(path).href, width: 1440 }, (page) => measured(page, report))
  )
}
