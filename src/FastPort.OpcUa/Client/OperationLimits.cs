using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Client;

/// <summary>What a request may have many of.</summary>
internal enum Bulk
{
    /// <summary>Nodes of a Read.</summary>
    Read,

    /// <summary>Nodes of a Write.</summary>
    Write,

    /// <summary>Nodes of a Browse, or continuation points of a BrowseNext.</summary>
    Browse,

    /// <summary>Nodes of a RegisterNodes or UnregisterNodes.</summary>
    RegisterNodes,

    /// <summary>Paths of a TranslateBrowsePathsToNodeIds.</summary>
    TranslateBrowsePaths,

    /// <summary>Items of a service of monitored items.</summary>
    MonitoredItems,

    /// <summary>Subscriptions of a TransferSubscriptions or DeleteSubscriptions. No server declares a limit for these.</summary>
    Subscriptions,
}

/// <summary>
/// The number of operations that a server accepts in a request: its declared limit (OPC 10000-5, 6.3.11), or less if it has refused that
/// many. One for all sessions of a client. Thread-safe.
/// </summary>
/// <param name="endpointUrl">For messages.</param>
/// <param name="logger">Logs once for each kind of request that a server accepts fewer than it declares.</param>
internal sealed class OperationLimits(string endpointUrl, ILogger logger)
{
    // A server may need long for each.
    private const int MostItems = 1000;

    private const int Kinds = (int)Bulk.Subscriptions + 1;

    // In namespace 0, in the order of Bulk, for those that have one.
    private static readonly NodeId[] Declarations =
        [new(0, 11705), new(0, 11707), new(0, 11710), new(0, 11711), new(0, 11712), new(0, 11714)];

    private readonly Lock _gate = new();

    // By Bulk. Changed under the gate.
    private readonly int[] _declared = [.. Enumerable.Range(0, Kinds).Select(Undeclared)];
    private readonly int[] _taken = [.. Enumerable.Repeat(int.MaxValue, Kinds)];

    /// <summary>The nodes of a server's declared limits, in the order of <see cref="Declare"/>.</summary>
    public static IReadOnlyList<NodeId> Nodes => Declarations;

    /// <summary>The most operations of a request.</summary>
    public int this[Bulk bulk] => Math.Min(Volatile.Read(ref _declared[(int)bulk]), Volatile.Read(ref _taken[(int)bulk]));

    /// <summary>Reads the values of <see cref="Nodes"/>. A missing node, or 0, means no limit.</summary>
    public void Declare(ReadOnlySpan<DataValue> values)
    {
        lock (_gate)
        {
            for (int i = 0; i < Declarations.Length; i++)
            {
                bool isLimit = values[i].Value.TryGet(out uint limit) && limit is > 0 and < int.MaxValue;
                Volatile.Write(ref _declared[i], isLimit ? (int)limit : Undeclared(i));
            }
        }
    }

    /// <summary>
    /// Halves the limit if a request was refused because it has too many operations. False if it was not, or had only one: it would be
    /// refused again.
    /// </summary>
    /// <param name="bulk">The kind of request.</param>
    /// <param name="count">How many operations the request had.</param>
    /// <param name="status">Why it was refused. The server has executed nothing of it.</param>
    public bool TryLower(Bulk bulk, int count, StatusCode status)
    {
        if (status != StatusCodes.BadTooManyOperations || count < 2)
        {
            return false;
        }

        bool isFirst;
        lock (_gate)
        {
            // Another request may have been refused in the meantime.
            int before = _taken[(int)bulk];
            isFirst = before == int.MaxValue;
            Volatile.Write(ref _taken[(int)bulk], Math.Min(before, count / 2));
        }

        if (isFirst)
        {
            ClientLog.TooManyOperations(logger, endpointUrl, bulk, count);
        }

        return true;
    }

    private static int Undeclared(int bulk) => bulk == (int)Bulk.MonitoredItems ? MostItems : int.MaxValue;
}
