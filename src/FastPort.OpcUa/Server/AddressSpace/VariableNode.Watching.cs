using System.Diagnostics;
using System.Runtime.InteropServices;

namespace FastPort.OpcUa.Server;

/// <content>Monitored items, which receive each new value, and the access rights.</content>
public sealed partial class VariableNode
{
    // The monitored items that get each new value, in no order; null until there was one. Under the gate.
    private List<MonitoredItem>? _watchers;

    // Also those that get the access rights.
    private List<MonitoredItem>? _accessWatchers;

    /// <summary>Whether monitored items get its values.</summary>
    internal bool IsWatched
    {
        get
        {
            lock (_gate)
            {
                return _watchers is { Count: > 0 };
            }
        }
    }

    /// <summary>
    /// Passes the current value and all later ones to an item, each exactly once; or the access rights, if the item monitors those.
    /// </summary>
    internal void Watch(MonitoredItem item)
    {
        lock (_gate)
        {
            List<MonitoredItem> watchers = WatchersLike(item) ??= [];
            item.WatchIndex = watchers.Count;
            watchers.Add(item);
            if (item.IsAccess)
            {
                item.Poll();
                return;
            }

            _isPrivate = false;
            var budget = new PartBudget();
            item.OnValue(_isReadable ? _value : NotReadable, _isReadable ? CountBytes() : 0, ref budget);
        }
    }

    internal void Unwatch(MonitoredItem item)
    {
        lock (_gate)
        {
            if (item.WatchIndex < 0)
            {
                return;
            }

            List<MonitoredItem> watchers = WatchersLike(item)!;
            MonitoredItem last = watchers[^1];
            watchers[item.WatchIndex] = last;
            last.WatchIndex = item.WatchIndex;
            watchers.RemoveAt(watchers.Count - 1);
            item.WatchIndex = -1;
        }
    }

    // Under the gate, so that items get the values in their order. Each session's parts have a separate budget: neither the writer nor the
    // parts of others use it up.
    private void Tell()
    {
        Debug.Assert(_gate.IsHeldByCurrentThread);
        if (_watchers is not { Count: > 0 })
        {
            return;
        }

        DataValue value = _isReadable ? _value : NotReadable;
        long bytes = _isReadable ? CountBytes() : 0;
        PartBudget free = default;
        Dictionary<SessionSubscriptions, PartBudget>? budgets = null;
        foreach (MonitoredItem watcher in _watchers)
        {
            if (watcher.Part is not { } part || !part.LooksInside(value.Value))
            {
                watcher.OnValue(value, bytes, ref free);
            }
            else
            {
                watcher.OnValue(value, bytes, ref CollectionsMarshal.GetValueRefOrAddDefault(budgets ??= [], watcher.Owner, out _));
            }
        }
    }

    private ref List<MonitoredItem>? WatchersLike(MonitoredItem item) => ref item.IsAccess ? ref _accessWatchers : ref _watchers;

    // Under the gate, as Tell.
    private void TellAccess() => _accessWatchers?.ForEach(static watcher => watcher.Poll());
}
