namespace FastPort.Comparisons.Simulation;

/// <summary>What sessions do: relays, publications, coming and going; and what nodes do by themselves: leases and keys.</summary>
internal sealed class Traffic
{
    private const int RelayHead = 5 + 29;
    private const int ConfirmationBytes = 14;
    private const int KeptAtOnce = 256;

    private readonly Cluster _cluster;
    private readonly SimulationSettings _settings;
    private readonly UnitCosts _costs;
    private readonly double _outdated;

    public Traffic(Cluster cluster)
    {
        _cluster = cluster;
        _settings = cluster.Settings;
        _costs = cluster.Costs;

        // Of a target that moves and is sent to at random times, the next event is a move by this chance. A location that is found to be
        // out of date is forgotten, so the next relay looks it up.
        double moves = 1 / _settings.SessionSeconds;
        double uses = _settings.RelaysPerSecond / (Math.Max(1, _settings.Ids) * (double)_settings.Contacts);
        double moved = moves / (moves + uses);
        _outdated = moved / (1 + moved);
    }

    /// <summary>Begins everything.</summary>
    public void Begin()
    {
        Repeat(_settings.RelaysPerSecond, () => Relay(AnyNode()));
        Repeat(_settings.PublicationsPerSecond, Publish);
        Repeat(_settings.Ids / _settings.SessionSeconds, Move);
        foreach (SimulatedNode node in _cluster.Nodes)
        {
            double lease = _settings.LeaseSeconds * 1e6 / 3;
            Every(lease, () => _cluster.Renew(node, static () => { }), node);
            Every(1e6, () => KeepSome(node), node);
        }
    }

    /// <summary>A relay from a node to a session of another one, confirmed.</summary>
    public void Relay(SimulatedNode from)
    {
        var relay = new Journey(from, _cluster.Other(from), _cluster.Random.Next(1, int.MaxValue), _cluster.Agenda.Now, null);
        _cluster.Counters.RelaysSent++;
        if (_cluster.Random.NextDouble() * _settings.Ids < _cluster.Missing)
        {
            _cluster.Counters.RelaysFailed++;
            return;
        }

        from.Processor.Run(from.Loop, _costs.Socket + (_costs.Relay / 3), () =>
        {
            double chance = _cluster.Random.NextDouble();
            if (chance < _outdated)
            {
                LookUp(from, () => Send(from, relay));
            }
            else if (chance < 2 * _outdated)
            {
                SendAstray(relay);
            }
            else
            {
                Send(from, relay);
            }
        });
    }

    /// <summary>A session claims its id at a node.</summary>
    public void Claim(SimulatedNode node, Action granted)
    {
        double sent = _cluster.Agenda.Now;
        _cluster.Counters.ClaimsSent++;
        _cluster.OnId(node, _costs.Claim, () =>
        {
            _cluster.Counters.Claims.Add(_cluster.Agenda.Now - sent);
            granted();
        });
    }

    // Not while the node sets all of them again.
    private void KeepSome(SimulatedNode node)
    {
        if (node.IsValid)
        {
            Keep(node, (long)(node.Ids / _settings.KeepSeconds), static () => { });
        }
    }

    /// <summary>Sets keys of a node's ids again, so many at a time.</summary>
    public void Keep(SimulatedNode node, long left, Action done)
    {
        if (left <= 0)
        {
            done();
            return;
        }

        int some = (int)Math.Min(KeptAtOnce, left);
        _cluster.OnIds(node, _costs.Keep, some, () => Keep(node, left - some, done));
    }

    /// <summary>A node tells another one so many prefixes that it wants, and is told as many.</summary>
    public void ExchangeInterests(SimulatedNode one, SimulatedNode other, int prefixes)
    {
        one.LinkTo(other).Add(Interests(() => other.LinkTo(one).Add(Interests(null))));

        Entry Interests(Action? arrived) => new(10 + (prefixes * (5 + _settings.IdLength)), _costs.Interest * prefixes)
        {
            NeedsSeen = true,
            Arrived = arrived,
        };
    }

    /// <summary>Sends a relay to the node that its target is at.</summary>
    public void Send(SimulatedNode from, Journey relay)
    {
        if (!relay.To.IsUp || !relay.To.IsValid)
        {
            Fail();
            return;
        }

        from.LinkTo(relay.To).Add(new Entry(RelayHead + _settings.IdLength + _settings.MessageBytes, _costs.Relay / 3)
        {
            NeedsSeen = true,
            Session = relay.Session,
            Lost = Fail,
            Arrived = () => relay.To.LinkTo(relay.From).Add(new Entry(ConfirmationBytes, _costs.Relay / 3)
            {
                Session = relay.Session,
                Arrived = () =>
                {
                    _cluster.Counters.Relays.Add(_cluster.Agenda.Now - relay.SentAt);
                    relay.Confirmed?.Invoke();
                },
            }),
        });

        void Fail() => _cluster.Counters.RelaysFailed++;
    }

    // To where the target was: that node looks it up and passes the relay on.
    private void SendAstray(Journey relay)
    {
        SimulatedNode former = _cluster.Other(relay.From);
        relay.From.LinkTo(former).Add(new Entry(RelayHead + _settings.IdLength + _settings.MessageBytes, _costs.Relay / 3)
        {
            NeedsSeen = true,
            Lost = () => _cluster.Counters.RelaysFailed++,
            Arrived = () =>
            {
                former.LinkTo(relay.From).Add(new Entry(13 + _settings.IdLength, 0));
                LookUp(former, () => Send(former, former == relay.To ? relay with { To = _cluster.Other(former) } : relay));
            },
        });
    }

    private void LookUp(SimulatedNode node, Action found) => _cluster.OnId(node, _costs.LookUp, () => node.InReceiver(0, found));

    private void Publish()
    {
        int topic = _cluster.Random.Next(_settings.Topics);
        SimulatedNode from = AnyNode();
        SimulatedNode own = _cluster.Nodes[(int)((topic * 2654435761L) % _cluster.Nodes.Length)];
        double sent = _cluster.Agenda.Now;
        if (_settings.HasRendezvous && own != from && own.IsUp)
        {
            from.LinkTo(own).Add(Publication(() => Spread(own)));
        }
        else
        {
            Spread(from);
        }

        void Spread(SimulatedNode at)
        {
            for (int i = 0; i < Math.Min(_settings.InterestedNodes, _cluster.Nodes.Length); i++)
            {
                SimulatedNode wanting = _cluster.Nodes[(int)(((topic * 2654435761L) + 1 + i) % _cluster.Nodes.Length)];
                if (wanting != at && wanting.IsUp)
                {
                    at.LinkTo(wanting).Add(Publication(() => _cluster.Counters.Publications.Add(_cluster.Agenda.Now - sent)));
                }
            }
        }
    }

    private Entry Publication(Action arrived) => new(10 + _settings.IdLength + _settings.MessageBytes, _costs.Relay / 3)
    {
        Session = 1,
        NeedsSeen = true,
        Arrived = arrived,
    };

    private void Move()
    {
        SimulatedNode from = AnyNode();
        SimulatedNode to = _cluster.Nodes.Length > 1 ? _cluster.Other(from) : from;
        if (!from.IsValid || !to.IsValid || from.Ids == 0)
        {
            return;
        }

        from.Ids--;
        _cluster.OnId(from, _costs.Release, null);
        Claim(to, () => to.Ids++);
    }

    private SimulatedNode AnyNode()
    {
        while (true)
        {
            SimulatedNode node = _cluster.Nodes[_cluster.Random.Next(_cluster.Nodes.Length)];
            if (node.IsUp)
            {
                return node;
            }
        }
    }

    private void Repeat(double perSecond, Action action)
    {
        if (perSecond > 0)
        {
            _cluster.Agenda.After(_cluster.NextAfter(perSecond), () =>
            {
                action();
                Repeat(perSecond, action);
            });
        }
    }

    // From a phase of its own, as long as the node runs.
    private void Every(double interval, Action action, SimulatedNode node)
    {
        _cluster.Agenda.After(_cluster.Random.NextDouble() * interval, Run);

        void Run()
        {
            if (node.IsUp)
            {
                action();
            }

            _cluster.Agenda.After(interval, Run);
        }
    }
}

/// <summary>A relay on its way.</summary>
/// <param name="From">The sender's node.</param>
/// <param name="To">The target's.</param>
/// <param name="Session">The number of its sender and of its target.</param>
/// <param name="SentAt">When it was sent.</param>
/// <param name="Confirmed">Called when its sender knows that it has arrived.</param>
internal sealed record Journey(SimulatedNode From, SimulatedNode To, int Session, double SentAt, Action? Confirmed);
