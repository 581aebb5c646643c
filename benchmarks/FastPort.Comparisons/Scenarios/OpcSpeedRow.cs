using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Scenarios;

/// <summary>How client and server of an <c>opcspeed</c> row are joined.</summary>
internal enum OpcSpeedPlace
{
    /// <summary>Both in one process.</summary>
    InProcess,

    /// <summary>A process each, over TCP on loopback.</summary>
    Local,

    /// <summary>The same with the bridge between them.</summary>
    Bridged,

    /// <summary>A network each.</summary>
    Remote,

    /// <summary>As <see cref="Local"/>; the client reads nothing and is sent what changes.</summary>
    Changes,
}

/// <summary>A row of the published table, or one beside it.</summary>
/// <param name="Place">How client and server are joined.</param>
/// <param name="Items">Items of a read; of changes, those of each publishing interval.</param>
/// <param name="Outstanding">Requests of each client that are under way at a time.</param>
/// <param name="Clients">Clients, each with a session and a connection of its own.</param>
internal sealed record OpcSpeedRow(OpcSpeedPlace Place, int Items, int Outstanding, int Clients = 1)
{
    /// <summary>Tags of the server.</summary>
    public const int Tags = 2000;

    /// <summary>Requests under way at a time where there are several.</summary>
    public const int Many = 16;

    /// <summary>Milliseconds from one change to the next, and of the publishing interval.</summary>
    public const int Interval = 100;

    public string Where => Place switch
    {
        OpcSpeedPlace.InProcess => "in-process",
        OpcSpeedPlace.Local => "local",
        OpcSpeedPlace.Bridged => "local, bridged",
        OpcSpeedPlace.Remote => "remote",
        _ => "local, changes only",
    };

    public string How => Place == OpcSpeedPlace.Changes
        ? $"{Invariant.Text(Items * 100 / Tags)} % of {Tags:N0} tags change every {Invariant.Text(Interval)} ms"
        : $"{Invariant.Text(Clients)} client{(Clients == 1 ? "" : "s")}, {Invariant.Text(Outstanding)} outstanding";

    public string Title => Place == OpcSpeedPlace.Changes
        ? $"{Where}, {How}"
        : $"{Where}, {Invariant.Text(Items)} item{(Items == 1 ? "" : "s")}, {How}";

    /// <summary>What the row should reach, per second; null for nothing.</summary>
    public (Metric Metric, double AtLeast)? Target => this switch
    {
        { Outstanding: not Many } or { Clients: not 1 } => null,
        { Place: OpcSpeedPlace.InProcess, Items: 100 } => (Metric.Tags, 15e6),
        { Place: OpcSpeedPlace.Local, Items: 100 } => (Metric.Tags, 5e6),
        { Place: OpcSpeedPlace.Local, Items: 1 } => (Metric.Throughput, 100e3),
        _ => null,
    };

    /// <summary>All rows, or those that show whether everything runs.</summary>
    public static IEnumerable<OpcSpeedRow> All(bool quick)
    {
        if (quick)
        {
            foreach (OpcSpeedPlace place in (OpcSpeedPlace[])
                [OpcSpeedPlace.InProcess, OpcSpeedPlace.Local, OpcSpeedPlace.Bridged, OpcSpeedPlace.Remote])
            {
                yield return new OpcSpeedRow(place, 100, Many, place == OpcSpeedPlace.Remote ? 4 : 1);
            }

            yield return new OpcSpeedRow(OpcSpeedPlace.Changes, Tags / 10, 0);
            yield break;
        }

        foreach (OpcSpeedPlace place in Enum.GetValues<OpcSpeedPlace>().Where(static place => place != OpcSpeedPlace.Changes))
        {
            foreach (int items in (int[])[100, 1])
            {
                yield return new OpcSpeedRow(place, items, Many);
                yield return new OpcSpeedRow(place, items, 1);
                if (place is OpcSpeedPlace.Local or OpcSpeedPlace.Remote)
                {
                    yield return new OpcSpeedRow(place, items, Many, Clients: 4);
                }
            }
        }

        foreach (int part in (int[])[100, 10, 1])
        {
            yield return new OpcSpeedRow(OpcSpeedPlace.Changes, Tags / part, 0);
        }
    }
}
