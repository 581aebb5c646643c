namespace FastPort.Configuration;

/// <summary>
/// Options that describe themselves: one method reads them from a section and checks them. <see cref="SectionOptions.Add"/> registers
/// them.
/// </summary>
internal interface IDescribedOptions
{
    /// <summary>Names each option once, with its allowed values, and stores what the section returns.</summary>
    /// <param name="section">The pass over the section.</param>
    void Describe(OptionSection section);
}
