using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Security.Claims;
using Xunit;

namespace FastPort.Tests.Support;

/// <summary>
/// Looks for what other calls have left in the execution context of a callback, and leaves as much there itself. Thread-safe.
/// </summary>
internal sealed class ContextProbe
{
    // Told from others by its separator: there may be no cultures but the invariant one.
    private const string Separator = "~";

    private readonly AsyncLocal<string?> _mark = new();
    private readonly ConcurrentDictionary<string, int> _visits = new();
    private readonly ConcurrentQueue<string> _leaks = new();

    /// <summary>What this flow was marked with; null for none.</summary>
    public string? Mark
    {
        get => _mark.Value;
        set => _mark.Value = value;
    }

    /// <summary>Called by a callback: what it sees of others is a leak, and it leaves all that it can.</summary>
    public void Visit(string name)
    {
        if (Mark is { } other)
        {
            _leaks.Enqueue($"{name} sees the value of {other}.");
        }

        if (CultureInfo.CurrentCulture.NumberFormat.NumberDecimalSeparator == Separator)
        {
            _leaks.Enqueue($"{name} sees the culture of another one.");
        }

        if (Activity.Current is { } activity)
        {
            _leaks.Enqueue($"{name} sees the activity {activity.OperationName}.");
        }

        if (Thread.CurrentPrincipal is { } principal)
        {
            _leaks.Enqueue($"{name} sees the principal {principal.Identity?.Name}.");
        }

        if (SynchronizationContext.Current is { } synchronization)
        {
            _leaks.Enqueue($"{name} sees the synchronization context {synchronization}.");
        }

        Leave(name);
        SynchronizationContext.SetSynchronizationContext(new SynchronizationContext());
        _visits.AddOrUpdate(name, 1, static (_, count) => count + 1);
    }

    /// <summary>Leaves a value, a culture, a principal and an activity in this flow.</summary>
    public void Leave(string name)
    {
        Mark = name;
        var culture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        culture.NumberFormat.NumberDecimalSeparator = Separator;
        CultureInfo.CurrentCulture = culture;
        Thread.CurrentPrincipal = new ClaimsPrincipal(new ClaimsIdentity([new Claim(ClaimTypes.Name, name)], "test"));
        Activity.Current = new Activity(name).Start();
    }

    /// <summary>Waits until each of these callbacks was called, then asserts that none has seen anything of another one.</summary>
    public async Task ExpectNoLeaksAsync(params string[] names)
    {
        await Patience.UntilAsync(() => names.All(_visits.ContainsKey), $"all of {string.Join(", ", names)} were called");
        Assert.Empty(_leaks);
    }
}
