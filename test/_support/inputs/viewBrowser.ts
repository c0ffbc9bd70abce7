/** view: the page of a report in a browser, and what it reads of a scene. */
import { hear, Listening } from "../../../packages/view/src/browser/live.ts"
import * as Axis from "../../../packages/view/src/drawing/Axis.ts"
import * as Strip from "../../../packages/view/src/drawing/Strip.ts"
import * as Outline from "../../../packages/view/src/scene/Outline.ts"
import * as Recording from "../../../packages/view/src/recording/Recording.ts"
import { Search } from "../../../packages/view/src/scene/Search.ts"
import * as Shares from "../../../packages/view/src/scene/Shares.ts"
import { cut } from "./answers.ts"
import { texts } from "./data.ts"
import { dom, each, fixed, grows, reached, type Table, wraps } from "./entry.ts"
import { lines, recordings, scenes } from "./view.ts"

export const viewBrowser: Table = {
  "view/src/scene/Outline.ts": {
    make: grows(scenes, ({ recording, scene }) =>
      // the words of a branch are made when they are read
      Outline.make(scene, recording.events).branches.map(({ badges, name, note }) => [badges, name, note])
    )
  },
  "view/src/scene/Search.ts": {
    ...each(reached, "textOf"),
    Search: grows(recordings, ({ events }) => {
      const search = new Search(events, "aaaa", [])
      search.step(() => false)
      return search.matches
    })
  },
  "view/src/scene/Shares.ts": { make: grows(scenes, ({ scene }) => Shares.make(scene)) },
  "view/src/scene/branchWords.ts": each(reached, "healthOf", "describe", "badgesOf"),
  "view/src/drawing/Layout.ts": { ...each(reached, "sheet", "boxesOf", "dotsOf"), ...each(fixed, "whole") },
  "view/src/drawing/scale.ts": each(fixed, "scaleOf"),
  "view/src/drawing/Strip.ts": {
    make: grows(scenes, ({ scene }) => Strip.make(scene, scene.items)),
    draw: grows(scenes, ({ scene }) => {
      const axis = Axis.make(scene)
      return Strip.draw(Strip.make(scene, scene.items), axis, 1000, { start: 0, end: axis.length })
    }),
    ...each(fixed, "scale")
  },
  "view/src/browser/clock.ts": each(fixed, "dateOf", "timeOf", "period"),
  "view/src/browser/comparing.ts": each(dom, "ComparisonView"),
  "view/src/browser/conversation.ts": each(dom, "Conversation"),
  "view/src/browser/copying.ts": each(dom, "copy"),
  "view/src/browser/Element.ts": each(dom, "element", "button"),
  "view/src/browser/dom.ts": each(dom, "svg", "longText"),
  "view/src/browser/eventList.ts": each(dom, "EventList"),
  "view/src/browser/filters.ts": each(dom, "failuresOf"),
  "view/src/browser/header.ts": each(dom, "header", "copying", "link"),
  "view/src/browser/inspector.ts": each(dom, "Inspector"),
  "view/src/browser/issue.ts": each(dom, "issueOf", "testCommand"),
  "view/src/browser/keys.ts": each(dom, "listen", "help"),
  "view/src/browser/legend.ts": each(dom, "legend"),
  "view/src/browser/links.ts": each(dom, "follow", "keep", "linkOf"),
  "view/src/browser/minimap.ts": each(dom, "Minimap"),
  "view/src/browser/mount.ts": each(dom, "mount"),
  "view/src/browser/outline.ts": each(dom, "OutlineView"),
  "view/src/browser/printing.ts": each(dom, "printing"),
  "view/src/browser/rows.ts": each(dom, "Rows"),
  "view/src/browser/searching.ts": each(dom, "Searching"),
  "view/src/browser/steps.ts": each(dom, "Steps"),
  "view/src/browser/store.ts": each(dom, "Store"),
  "view/src/browser/strips.ts": each(dom, "stripOf"),
  "view/src/browser/sums.ts": each(dom, "sums"),
  "view/src/browser/toolbar.ts": each(dom, "Toolbar"),
  "view/src/browser/live.ts": {
    Listening: grows(lines, (text) => {
      const listening = new Listening(Recording.start())
      for (const line of text.split("\n")) listening.take("message", line)
      return listening.recording()
    }),
    ...each(wraps, "follow"),
    hear: grows({ ...texts, "one long event": (size) => `data: ${"a".repeat(size)}` }, (text) =>
      hear(new Response(cut(text, 256)), () => undefined)
    )
  }
}
