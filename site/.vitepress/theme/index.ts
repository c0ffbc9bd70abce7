/// <reference types="vitepress/client" />
import { type Router, type Theme, withBase } from "vitepress"
import DefaultTheme from "vitepress/theme"
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet has nothing to assign
import "./style.css"

/** An old anchor leads to where its heading is now. The list is fetched only for an anchor that the page lacks. */
const follow = async (router: Router): Promise<void> => {
  const anchor = decodeURIComponent(location.hash.slice(1))
  if (anchor === "" || document.getElementById(anchor) !== null) return
  const { anchors } = await import("../../../scripts/site/anchors.ts")
  const page = router.route.data.relativePath.replace(/(?:^|(?<=\/))index\.md$|\.md$/, "")
  const to = anchors.get(`${page}#${anchor}`)
  if (to === undefined) return
  // replaced, so that the way back does not lead here again
  history.replaceState({}, "", withBase(`/${to}`))
  await router.go()
}

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp: ({ router }) => {
    if (!import.meta.env.SSR) router.onAfterRouteChange = () => void follow(router)
  }
}

export default theme
