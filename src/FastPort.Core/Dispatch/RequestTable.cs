using System.Numerics;

namespace FastPort.Dispatch;

/// <summary>
/// The requests of one session that are queued or running, by correlation: joining, leaving and finding one cost the same however many
/// there are. Chains of requests that share a bucket are linked through the requests themselves, so nothing is allocated per request.
/// Whoever owns the table locks it.
/// </summary>
internal sealed class RequestTable
{
    private const int InitialBuckets = 16;

    // Odd and not known to peers, who otherwise could choose correlations that all fall into one bucket.
    private static readonly uint Multiplier = (uint)Random.Shared.NextInt64() | 1;

    private RequestContext?[] _buckets = new RequestContext?[InitialBuckets];
    private int _count;
    private uint _oneWays;

    /// <summary>Requests of the longest chain; for tests, as it looks at all.</summary>
    public int LongestChain => _buckets.Max(static first => Chain(first).Count());

    public void Add(RequestContext request)
    {
        if (_count == _buckets.Length)
        {
            Grow();
        }

        // Nobody looks for a one-way message, and all may have the same correlation: they are numbered.
        request.TableKey = (request.IsOneWay ? ++_oneWays : request.Correlation) * Multiplier;
        Link(request);
        _count++;
    }

    public void Remove(RequestContext request)
    {
        if (request.Previous is null)
        {
            _buckets[Bucket(request)] = request.Next;
        }
        else
        {
            request.Previous.Next = request.Next;
        }

        if (request.Next is not null)
        {
            request.Next.Previous = request.Previous;
        }

        // Its handler may keep the context: it must not keep its neighbors.
        request.Next = request.Previous = null;
        _count--;
    }

    /// <summary>The request with this correlation; the newest where a peer uses one twice, null where there is none.</summary>
    public RequestContext? Find(uint correlation)
    {
        uint key = correlation * Multiplier;
        RequestContext? request = _buckets[Bucket(key)];
        while (request is not null && (request.IsOneWay || request.Correlation != correlation))
        {
            request = request.Next;
        }

        return request;
    }

    public List<RequestContext> ToList() => [.. _buckets.SelectMany(Chain)];

    private static IEnumerable<RequestContext> Chain(RequestContext? request)
    {
        for (; request is not null; request = request.Next)
        {
            yield return request;
        }
    }

    private int Bucket(RequestContext request) => Bucket(request.TableKey);

    // The upper bits of a product are those that all bits of the factor reach.
    private int Bucket(uint key) => (int)(key >> (32 - BitOperations.Log2((uint)_buckets.Length)));

    private void Link(RequestContext request)
    {
        ref RequestContext? first = ref _buckets[Bucket(request)];
        request.Previous = null;
        request.Next = first;
        if (first is not null)
        {
            first.Previous = request;
        }

        first = request;
    }

    private void Grow()
    {
        List<RequestContext> requests = ToList();
        _buckets = new RequestContext?[_buckets.Length * 2];
        foreach (RequestContext request in requests)
        {
            Link(request);
        }
    }
}
