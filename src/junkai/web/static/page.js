// Every few seconds: fetch this page again and put what changed in its place. Without it the page is as complete.
"use strict";
(() => {
  const EVERY_MS = 5000;
  const RETRY_MS_MAX = 30000;
  const main = document.getElementById("main");
  const button = document.getElementById("pause");
  const lost = document.getElementById("lost");
  if (!main || !button || !lost) return;
  let isPaused = false;
  let timer = 0;
  let failures = 0;

  const isInUse = (part) =>
    part.contains(document.activeElement) ||
    (part.dataset.live === "list" && part.matches(":hover")) ||
    (!getSelection().isCollapsed && getSelection().containsNode(part, true));

  const put = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = fresh.getElementById(part.id);
      if (!next || next.innerHTML === part.innerHTML || isInUse(part)) continue;
      part.replaceChildren(...next.childNodes);
      part.className = next.className;
    }
  };

  const look = async () => {
    try {
      const answer = await fetch(location.href, { cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(10000) });
      if (!answer.ok) throw new Error(String(answer.status));
      put(await answer.text());
      failures = 0;
      lost.hidden = true;
    } catch {
      failures += 1;
      lost.hidden = failures < 2;
    }
    plan();
  };

  const plan = () => {
    clearTimeout(timer);
    if (isPaused || document.hidden) return;
    timer = setTimeout(look, Math.min(EVERY_MS * 2 ** Math.max(failures - 1, 0), RETRY_MS_MAX));
  };

  button.hidden = false;
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.setAttribute("aria-pressed", String(isPaused));
    document.documentElement.classList.toggle("is-paused", isPaused);
    if (isPaused) plan();
    else look();
  });
  document.addEventListener("visibilitychange", () => (document.hidden || isPaused ? plan() : look()));
  plan();
})();
