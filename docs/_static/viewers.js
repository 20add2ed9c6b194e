// Loads the viewers of a page that are near the window, and unloads the others: a browser draws some sixteen scenes at a time.
addEventListener("DOMContentLoaded", () => {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) target.src = target.dataset.src;
        else target.removeAttribute("src");
      }
    },
    { rootMargin: "600px" },
  );
  for (const frame of document.querySelectorAll("iframe.viewer")) observer.observe(frame);
});
