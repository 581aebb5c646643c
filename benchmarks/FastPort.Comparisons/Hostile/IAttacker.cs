namespace FastPort.Comparisons.Hostile;

/// <summary>One kind of attack. To add another: one more entry of <see cref="AttackerCatalog"/>.</summary>
internal interface IAttacker
{
    /// <summary>Name in reports.</summary>
    string Name { get; }

    /// <summary>What is done and how often at most, as a sentence.</summary>
    string Description { get; }

    /// <summary>Attacks until it is canceled, and returns then.</summary>
    Task RunAsync(AttackTarget target, AttackCount count, CancellationToken ending);
}
