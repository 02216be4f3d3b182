(function () {
  "use strict";
  var tip = document.getElementById("tip");
  document.addEventListener("pointermove", function (event) {
    var mark = event.target.closest ? event.target.closest("[data-t]") : null;
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.getAttribute("data-t");
    var x = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    tip.style.left = Math.max(8, x) + "px";
    tip.style.top = Math.max(8, event.clientY - tip.offsetHeight - 10) + "px";
  });
  document.addEventListener("click", function (event) {
    var button = event.target.closest ? event.target.closest("th button") : null;
    if (!button) return;
    var head = button.parentNode, table = head.closest("table"), body = table.tBodies[0];
    var place = head.cellIndex, up = head.getAttribute("aria-sort") !== "ascending";
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell) { cell.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    function key(row) {
      var cell = row.cells[place], value = cell.getAttribute("data-v");
      return value === null ? cell.textContent.trim().toLowerCase() : value === "" ? Infinity : Number(value);
    }
    Array.prototype.slice.call(body.rows)
      .map(function (row) { return [key(row), row]; })
      .sort(function (a, b) { return (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (up ? 1 : -1); })
      .forEach(function (pair) { body.appendChild(pair[1]); });
  });
})();
