using System.Numerics;

namespace FastPort.Dispatch;

/// <summary>
/// The queued and running requests of one session, by correlation. Adding, removing and finding a request take constant time. Requests in
/// the same bucket are linked through themselves, so adding one allocates nothing. Not thread safe: the owner of the table locks it.
/// </summary>
internal sealed class RequestTable
{
    private const int InitialBuckets = 16;

    // Odd and random: a peer that knew it could choose correlations that all fall into one bucket.
    private static readonly uint Multiplier = (uint)Random.Shared.NextInt64() | 1;

    private RequestContext?[] _buckets = new RequestContext?[InitialBuckets];
    private int _count;
    private uint _oneWays;

    /// <summary>Length of the longest chain. For tests only: it walks the whole table.</summary>
    public int LongestChain => _buckets.Max(static first => Chain(first).Count());

    public void Add(RequestContext request)
    {
        if (_count == _buckets.Length)
        {
            Grow();
        }

        // One-way messages are never looked up, and all may have the same correlation. Numbers spread them over the buckets.
        request.TableKey = Key(request.IsOneWay ? ++_oneWays : request.Correlation);
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

        // A handler may keep its context. The context must not keep its neighbors alive.
        request.Next = request.Previous = null;
        _count--;
    }

    /// <summary>The request with this correlation, any of them if the peer uses it twice; null if there is none.</summary>
    public RequestContext? Find(uint correlation)
    {
        uint key = Key(correlation);
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

    // A product alone keeps consecutive numbers evenly spaced: with an unlucky factor they fall into few buckets.
    private static uint Key(uint number)
    {
        uint product = number * Multiplier;
        return (product ^ (product >> 16)) * 0x9E3779B1;
    }

    private int Bucket(RequestContext request) => Bucket(request.TableKey);

    // All bits of a factor reach the upper bits of the product.
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
